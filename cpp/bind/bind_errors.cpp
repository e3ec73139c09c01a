// Maps the core's errors to their twins in pincite/errors.py.
#include <exception>

#include "common.hpp"
#include "pincite/error.hpp"
#include "register.hpp"

namespace pincite::bind {
namespace {

// Looked up when an error is on its way, so that nothing outlives the interpreter.
void raise(const char* name, const Error& error) {
  const py::object type = py::module_::import("pincite.errors").attr(name);
  py::set_error(type, error.what());
}

void raise_storage(const StorageError& error) {
  const py::object type = py::module_::import("pincite.errors").attr("StorageError");
  const py::object instance = type(error.error_number(), error.what());
  PyErr_SetObject(type.ptr(), instance.ptr());
}

void translate(std::exception_ptr pending) {
  try {
    if (pending) std::rethrow_exception(pending);
  } catch (const InvalidInputError& error) {
    raise("InvalidInputError", error);
  } catch (const IndexCorruptError& error) {
    raise("IndexCorruptError", error);
  } catch (const IncompatibleIndexError& error) {
    raise("IncompatibleIndexError", error);
  } catch (const StorageError& error) {
    raise_storage(error);
  } catch (const Error& error) {
    raise("PinciteError", error);
  }
}

}  // namespace

void register_errors(py::module_&) { py::register_local_exception_translator(translate); }

}  // namespace pincite::bind
