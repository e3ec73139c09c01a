// The core's errors. Each has a Python twin in pincite/errors.py, to which bind/errors.cpp maps it.
#pragma once

#include <stdexcept>
#include <string>

namespace pincite {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An argument that cannot be worked with. Says what was given, what was wanted and what to do.
class InvalidInputError : public Error {
 public:
  using Error::Error;
};

/// Bytes of an index that are damaged, cut short or forged.
class IndexCorruptError : public Error {
 public:
  using Error::Error;
};

/// A sound file that this version, or this kind of index, cannot use.
class IncompatibleIndexError : public Error {
 public:
  using Error::Error;
};

/// The operating system refused to read or write a file.
class StorageError : public Error {
 public:
  StorageError(const std::string& what, int error_number) : Error(what), error_number_(error_number) {}
  [[nodiscard]] int error_number() const noexcept { return error_number_; }

 private:
  int error_number_;
};

}  // namespace pincite
