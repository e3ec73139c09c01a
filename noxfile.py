"""Every check by name: ``nox -l`` lists them, ``nox -s lint types cpp`` runs some.

The sessions that `.ci/run` calls are quick. The others (sanitizers, fuzz, tidy, soak, bench, studies) are run by hand;
their last figures stand in bench/README.md, docs/checks.md and docs/evaluation.md.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import nox

nox.options.default_venv_backend = "venv"
nox.options.sessions = ["tests", "lint", "types", "cpp"]
nox.needs_version = ">=2025.2.9"

PROJECT = nox.project.load_toml("pyproject.toml")
CPP = [str(path) for path in sorted(Path("cpp").rglob("*.[ch]pp"))]


def group(name: str) -> list[str]:
    return list(nox.project.dependency_groups(PROJECT, name))


def configure(session: nox.Session, folder: str, *definitions: str) -> str:
    """Configure and build the core without Python under build/FOLDER; return that folder."""
    session.install(*group("build"))
    build = f"build/{folder}"
    session.run("cmake", "-S", ".", "-B", build, "-G", "Ninja", "-DPINCITE_BUILD_PYTHON=OFF", *definitions)
    session.run("cmake", "--build", build)
    return build


def clang() -> str:
    """Return the newest clang++ there is."""
    for name in ("clang++", *(f"clang++-{version}" for version in range(22, 13, -1))):
        if shutil.which(name):
            return name
    raise FileNotFoundError("no clang++ found (Debian: apt-get install clang-16 libclang-rt-16-dev)")


def runtime_library(name: str) -> str:
    """Return the path of a sanitizer runtime of the default compiler."""
    found = subprocess.run(["cc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return found.stdout.strip()


@nox.session(python=["3.11", "3.12", "3.13", "3.14"], tags=["python"])
def pythons(session: nox.Session) -> None:
    """Run the Python tests on one interpreter: nox -s pythons-3.13."""
    session.install(".[test]")
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the Python tests."""
    session.install(".[test]")
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and format of Python and C++."""
    session.install(*group("lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("clang-format", "--dry-run", "--Werror", *CPP)


@nox.session
def types(session: nox.Session) -> None:
    """Check types, and the stub of the extension against the extension."""
    session.install(".[test]", *group("types"))
    session.run("mypy")
    session.run(
        *("python", "-m", "mypy.stubtest", "pincite._core"),
        *("--allowlist", "tests/stubtest_allowlist.txt", "--ignore-unused-allowlist"),
    )


@nox.session
def cpp(session: nox.Session) -> None:
    """Build the core without Python and run its tests."""
    build = configure(session, "cpp", "-DPINCITE_BUILD_TESTS=ON")
    session.run(f"{build}/cpp/tests/pincite_tests", external=True)


@nox.session
def neon(session: nox.Session) -> None:
    """Run the C++ tests for aarch64 under qemu (Debian: apt-get install g++-aarch64-linux-gnu qemu-user-static)."""
    build = configure(session, "neon", "-DPINCITE_BUILD_TESTS=ON", "-DCMAKE_BUILD_TYPE=Release",
                      "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
                      "-DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc",
                      "-DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++")  # fmt: skip
    tests = f"{build}/cpp/tests/pincite_tests"
    session.run("qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu", tests, external=True)


@nox.session
def wheel(session: nox.Session) -> None:
    """Build sdist and wheel, audit the wheel, and smoke-test it in an environment without a compiler."""
    session.install(*group("wheel"))
    session.run("python", "-m", "build", "--outdir", "dist")
    built = max(Path("dist").glob("pincite-*.whl"), key=lambda path: path.stat().st_mtime)
    session.run("auditwheel", "show", str(built))
    fresh = Path(session.create_tmp()).absolute() / "fresh"
    session.run("python", "-m", "venv", "--clear", str(fresh))
    python = str(fresh / "bin" / "python")
    session.run(python, "-m", "pip", "install", "-q", "--only-binary=:all:", str(built), external=True)
    # No PATH, so no compiler; another folder, so that nothing of the checkout can be imported.
    test = str(Path("tests/smoke/test_minimal.py").absolute())
    with session.chdir(session.create_tmp()):
        session.run(python, "-I", test, external=True, include_outer_env=False, env={"PATH": "/nonexistent"})


@nox.session
def kernels(session: nox.Session) -> None:
    """Run the Python tests once with each kernel that this machine has."""
    session.install(".[test]")
    names = session.run("python", "-c", "import pincite.core.kernels as k; print(*k.available_kernels())", silent=True)
    for name in str(names).split():
        session.run("python", "-m", "pytest", "-q", *session.posargs, env={"PINCITE_KERNEL": name})


@nox.session
def sanitizers(session: nox.Session) -> None:
    """Run the C++ tests and the Python tests under AddressSanitizer and UndefinedBehaviorSanitizer."""
    build = configure(session, "asan", "-DPINCITE_BUILD_TESTS=ON", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                      "-DPINCITE_SANITIZE=address,undefined")  # fmt: skip
    session.run(f"{build}/cpp/tests/pincite_tests", external=True)
    session.install(".[test]", "-Ccmake.define.PINCITE_SANITIZE=address,undefined", "-Cinstall.strip=false")
    env = {
        "LD_PRELOAD": f"{runtime_library('libasan.so')} {runtime_library('libubsan.so')}",
        # CPython itself never frees everything; leaks of ours show in the C++ tests, where leaks are checked.
        "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }
    session.run("python", "-m", "pytest", "-q", *session.posargs, env=env)


@nox.session
def threads(session: nox.Session) -> None:
    """Run the C++ tests, and readers in threads beside a writer, under ThreadSanitizer."""
    build = configure(session, "tsan", "-DPINCITE_BUILD_TESTS=ON", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                      "-DPINCITE_SANITIZE=thread")  # fmt: skip
    # hnswlib's build takes its locks in no fixed order (never two in a way that could deadlock there); races are ours.
    options = "halt_on_error=1:detect_deadlocks=0"
    # First by themselves, in a process that has chosen no kernel and looked up no term yet.
    for chosen in (["-tc=threads: *"], []):
        session.run(f"{build}/cpp/tests/pincite_tests", *chosen, external=True, env={"TSAN_OPTIONS": options})
    session.install(".[test]", "-Ccmake.define.PINCITE_SANITIZE=thread", "-Cinstall.strip=false")
    # Python, SQLite and NumPy are not instrumented: what they do among themselves would be guessed at.
    env = {
        "LD_PRELOAD": runtime_library("libtsan.so"),
        "TSAN_OPTIONS": f"{options}:ignore_noninstrumented_modules=1",
    }
    session.run("python", "-m", "pytest", "-q", "tests/faults/test_together.py", *session.posargs, env=env)


@nox.session
def fuzz(session: nox.Session) -> None:
    """Fuzz the core with libFuzzer (needs clang): nox -s fuzz -- [SECONDS | -runs=N] [TARGET ...], 60 s each."""
    bounds = [given for given in session.posargs if given.isdigit() or given.startswith("-runs=")]
    bound = next(iter(bounds), "60")
    chosen = set(session.posargs) - set(bounds)
    build = configure(session, "fuzz", "-DPINCITE_BUILD_FUZZERS=ON", f"-DCMAKE_CXX_COMPILER={clang()}",
                      "-DPINCITE_WERROR=OFF", "-DPINCITE_SANITIZE=address,undefined",
                      "-DCMAKE_BUILD_TYPE=RelWithDebInfo")  # fmt: skip
    programs = Path(build, "cpp/fuzz")
    corpus = Path(build, "corpus")
    session.run(str(programs / "pincite_fuzz_seeds"), str(corpus), external=True)
    executed: dict[str, int] = {}
    if unknown := chosen - {path.name for path in programs.glob("fuzz_*")}:
        session.error(f"no targets are named {', '.join(sorted(unknown))}")
    for target in sorted(programs.glob("fuzz_*")):
        if not (target.is_file() and os.access(target, os.X_OK)) or (chosen and target.name not in chosen):
            continue
        found = corpus / target.name
        found.mkdir(parents=True, exist_ok=True)
        # What is freed is kept from use by default, 256 MiB and the stack's frames: longer work than all the rest.
        said = session.run(
            *(str(target), bound if bound.startswith("-") else f"-max_total_time={bound}", "-max_len=16384"),
            *("-rss_limit_mb=2048", "-timeout=20", "-print_final_stats=1", "-print_funcs=0", "-verbosity=0"),
            str(found),
            external=True, silent=True,
            env={"ASAN_OPTIONS": "quarantine_size_mb=1:malloc_context_size=2:detect_stack_use_after_return=0"},
        )  # fmt: skip
        executed[target.name] = int(str(said).partition("number_of_executed_units:")[2].split()[0])
        session.log(f"{target.name}: {executed[target.name]:,} executions, 0 findings")
    each = ", ".join(f"{name.removeprefix('fuzz_')} {count:,}" for name, count in executed.items())
    session.log(f"{sum(executed.values()):,} executions, 0 findings: {each}")


@nox.session
def tidy(session: nox.Session) -> None:
    """Run clang-tidy over the core."""
    session.install(*group("tidy"))
    build = configure(session, "tidy", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    session.run("clang-tidy", "-p", build, "--quiet", *[path for path in CPP if path.startswith("cpp/src")])


@nox.session
def survival(session: nox.Session) -> None:
    """Do to an index what it survives (docs/reliability.md): nox -s survival -- WHAT [N]."""
    session.install(".[test]")
    session.run("python", "-m", "soaks.survival", *session.posargs, env={"PYTHONPATH": "tests"})


@nox.session
def soak(session: nox.Session) -> None:
    """Look for leaks and stale answers (an hour at most): nox -s soak -- permissions|revocations [COUNT]."""
    session.install(".[test]")
    session.run("python", "-m", "soaks", *session.posargs, env={"PYTHONPATH": "tests"})


@nox.session
def bench(session: nox.Session) -> None:
    """Print the benchmark table: nox -s bench -- [CONCEPT ...]."""
    session.install(".[test]")
    session.run("python", "bench/run.py", *session.posargs)


@nox.session
def studies(session: nox.Session) -> None:
    """Measure ourselves and fill in docs/evaluation.md (an hour at most): nox -s studies -- [STUDY ...]."""
    session.install(".", *group("studies"))
    session.run("python", "studies/run.py", *session.posargs)
