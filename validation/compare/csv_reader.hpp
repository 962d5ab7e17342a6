/// Reads CSV (RFC 4180) one record at a time: quotes, embedded newlines, CRLF, a byte-order mark and blank lines.
#pragma once

#include <cstddef>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// One record of a CSV file.
struct CsvRecord {
  std::vector<std::string> cells;  ///< as many as the header has
  int line = 0;                    ///< 1-based line its first cell begins on
};

/// What stands around the records of a file that another program's output is mixed into.
struct CsvSurroundings {
  std::string header_begins;  ///< lines before the first that begins so, quoted or not, are skipped; empty = the file
                              ///< begins with it
  char comment = 0;           ///< lines that begin with it are skipped; 0 = none
};

/// A CSV file with a header, streamed: memory does not grow with the number of records.
///
/// Errors: every problem throws InputError with file and line: a file that cannot be opened, is no regular one or has
/// no header, a column named twice, a record with another number of cells than the header, a quote that does not end,
/// text after a closing quote, a zero byte, a record above 1 MiB.
class CsvReader {
 public:
  explicit CsvReader(std::string path, CsvSurroundings surroundings = {});

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::vector<std::string>& header() const noexcept { return header_; }
  /// Index of a column, or nothing.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view column) const;
  /// Throws InputError that lists every column of `columns` that the header lacks.
  void require(const std::vector<std::string_view>& columns) const;
  /// Reads the next record; false at the end of the file.
  bool next(CsvRecord& record);

 private:
  /// The column that is most nearly a missing one, among those that are none of the needed; empty where none is.
  [[nodiscard]] std::string nearest_column(std::string_view missing, const std::vector<std::string_view>& needed) const;
  void skip_to_header();
  void skip_blank_lines();
  bool read_record(CsvRecord& record);
  void read_quoted(std::string& cell, int first_line);
  void take(char c, std::string& cell, int first_line);
  [[noreturn]] void fail(int line, const std::string& message) const;

  std::string path_;
  CsvSurroundings surroundings_;
  std::ifstream stream_;
  std::vector<std::string> header_;
  int header_line_ = 1;
  int line_ = 1;
  std::size_t record_bytes_ = 0;
};

/// A cell as a number above or equal to zero; nothing when the cell is empty.
/// Throws InputError naming file, line and column for text, NaN, infinity and negative numbers.
[[nodiscard]] std::optional<double> csv_number(const CsvReader& reader, const CsvRecord& record, std::size_t column);

}  // namespace strata
