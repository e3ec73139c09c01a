# Finds the headers of hnswlib, which builds our graphs, and sets HNSWLIB_INCLUDE_DIR (the folder that holds
# "hnswlib/hnswlib.h"). In this order:
#   1. HNSWLIB_INCLUDE_DIR as a CMake define or in the environment;
#   2. third_party/hnswlib, which our own source distribution carries (never committed);
#   3. the pinned source release, fetched with pip and checked against its SHA-256.

set(hnswlib_version 0.8.0)
set(hnswlib_sha256 cb6d037eedebb34a7134e7dc78966441dfd04c9cf5ee93911be911ced951c44c)
set(hnswlib_carried "${CMAKE_CURRENT_SOURCE_DIR}/third_party/hnswlib")
set(hnswlib_ways "Either let pip reach a package index (python -m pip download hnswlib==${hnswlib_version}), \
or unpack its source release yourself and pass -DHNSWLIB_INCLUDE_DIR=/path/to/hnswlib-${hnswlib_version} \
(as an environment variable: HNSWLIB_INCLUDE_DIR).")

function(hnswlib_fetch destination)
  # A name of its own: FindPython skips its search where Python_EXECUTABLE is already known.
  find_package(Python REQUIRED COMPONENTS Interpreter)
  set(work "${CMAKE_CURRENT_BINARY_DIR}/hnswlib-download")
  file(REMOVE_RECURSE "${work}")
  file(MAKE_DIRECTORY "${work}")
  file(WRITE "${work}/requirements.txt"
    "hnswlib==${hnswlib_version} --hash=sha256:${hnswlib_sha256}\n")
  message(STATUS "hnswlib: fetching the ${hnswlib_version} source release with pip")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env --unset=PIP_NO_BINARY --unset=PIP_NO_BUILD_ISOLATION --unset=PIP_TARGET
      "${Python_EXECUTABLE}" -m pip download --no-deps --no-binary hnswlib --require-hashes
      --disable-pip-version-check -q -r "${work}/requirements.txt" -d "${work}"
    RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(failed)
    message(FATAL_ERROR "hnswlib: pip could not fetch the ${hnswlib_version} source release.\n"
      "pip said: ${said}\n${hnswlib_ways}")
  endif()
  set(archive "${work}/hnswlib-${hnswlib_version}.tar.gz")
  file(SHA256 "${archive}" found)
  if(NOT found STREQUAL hnswlib_sha256)
    message(FATAL_ERROR "hnswlib: ${archive} has SHA-256 ${found}, wanted ${hnswlib_sha256}.")
  endif()
  file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${work}")
  file(MAKE_DIRECTORY "${destination}")
  file(COPY "${work}/hnswlib-${hnswlib_version}/hnswlib" "${work}/hnswlib-${hnswlib_version}/LICENSE"
    DESTINATION "${destination}")
endfunction()

if(NOT HNSWLIB_INCLUDE_DIR AND DEFINED ENV{HNSWLIB_INCLUDE_DIR})
  set(HNSWLIB_INCLUDE_DIR "$ENV{HNSWLIB_INCLUDE_DIR}")
endif()
if(NOT HNSWLIB_INCLUDE_DIR)
  if(SKBUILD_STATE STREQUAL "sdist")
    set(HNSWLIB_INCLUDE_DIR "${hnswlib_carried}")
  elseif(EXISTS "${hnswlib_carried}/hnswlib/hnswlib.h")
    set(HNSWLIB_INCLUDE_DIR "${hnswlib_carried}")
  else()
    set(HNSWLIB_INCLUDE_DIR "${CMAKE_CURRENT_BINARY_DIR}/hnswlib")
  endif()
  if(NOT EXISTS "${HNSWLIB_INCLUDE_DIR}/hnswlib/hnswlib.h")
    hnswlib_fetch("${HNSWLIB_INCLUDE_DIR}")
  endif()
endif()
if(NOT EXISTS "${HNSWLIB_INCLUDE_DIR}/hnswlib/hnswlib.h")
  message(FATAL_ERROR "hnswlib: HNSWLIB_INCLUDE_DIR is ${HNSWLIB_INCLUDE_DIR}, "
    "but ${HNSWLIB_INCLUDE_DIR}/hnswlib/hnswlib.h does not exist.\n${hnswlib_ways}")
endif()
message(STATUS "hnswlib: ${HNSWLIB_INCLUDE_DIR}")
