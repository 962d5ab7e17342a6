#include "validation/compare/csv_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_set>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/input_file.hpp"
#include "sim/config/text.hpp"

namespace strata {

namespace {

constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 20;
constexpr int kEnd = std::char_traits<char>::eof();

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return {};
  }
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

}  // namespace

CsvReader::CsvReader(std::string path, CsvSurroundings surroundings)
    : path_(std::move(path)), surroundings_(std::move(surroundings)) {
  require_regular_file(path_);
  stream_.open(path_, std::ios::binary);
  if (!stream_) {
    fail(0, cannot_be_opened());
  }
  constexpr int kGzip = 0x1F;
  if (stream_.peek() == kGzip) {
    fail(0, "is compressed; unpack it with gunzip first");
  }
  for (const int expected : {0xEF, 0xBB, 0xBF}) {  // a UTF-8 byte-order mark, as spreadsheets write it
    if (stream_.peek() != expected) {
      break;
    }
    stream_.get();
  }
  if (!surroundings_.header_begins.empty()) {
    skip_to_header();
  }
  CsvRecord first;
  if (!read_record(first)) {
    fail(0, "is empty; expected a header with column names");
  }
  header_line_ = first.line;
  std::unordered_set<std::string> seen;
  for (const std::string& cell : first.cells) {
    header_.push_back(trimmed(cell));
    if (!header_.back().empty() && !seen.insert(header_.back()).second) {
      fail(first.line, fmt::format("column '{}' appears twice in the header", header_.back()));
    }
  }
}

void CsvReader::fail(int line, const std::string& message) const {
  throw InputError(Diagnostic{path_, line, 0, {}, message});
}

std::optional<std::size_t> CsvReader::find(std::string_view column) const {
  const auto it = std::find(header_.begin(), header_.end(), column);
  if (it == header_.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(it - header_.begin());
}

std::string CsvReader::nearest_column(std::string_view missing, const std::vector<std::string_view>& needed) const {
  constexpr std::size_t kOfLetters = 3;  // one letter of three may differ
  std::string best;
  std::size_t least = missing.size() / kOfLetters + 1;
  for (const std::string& name : header_) {
    if (name.size() > 2 * missing.size() || std::find(needed.begin(), needed.end(), name) != needed.end()) continue;
    const std::size_t edits = edit_distance(lower_case(name), missing);
    if (edits < least) {
      least = edits;
      best = name;
    }
  }
  return best;
}

void CsvReader::require(const std::vector<std::string_view>& columns) const {
  if (header_.size() == 1 && columns.size() > 1) {
    for (const auto& [separator, name] : {std::pair{';', "semicolons"}, {'\t', "tabs"}, {'|', "bars"}}) {
      if (header_.front().find(separator) != std::string::npos) {
        fail(header_line_, fmt::format("the header's names are separated by {}; expected commas", name));
      }
    }
  }
  std::string missing;
  for (const std::string_view column : columns) {
    if (!find(column)) {
      const std::string other = nearest_column(column, columns);
      missing += fmt::format("{}'{}'", missing.empty() ? "" : ", ", column);
      if (other.empty()) continue;
      missing += fmt::format(" (has '{}'{})", other, lower_case(other) == column ? ": names are in lower case" : "");
    }
  }
  if (!missing.empty()) {
    fail(header_line_, fmt::format("the header lacks the column {}; needed are {}", missing, fmt::join(columns, ",")));
  }
}

bool CsvReader::next(CsvRecord& record) {
  if (!read_record(record)) {
    return false;
  }
  if (record.cells.size() != header_.size()) {
    constexpr const char* kQuote = "; a cell that holds commas needs quotes, as the shape \"4096,4096,4096,TN\" does";
    fail(record.line, fmt::format("has {} cells; the header has {}{}", record.cells.size(), header_.size(),
                                  record.cells.size() > header_.size() ? kQuote : ""));
  }
  return true;
}

void CsvReader::take(char c, std::string& cell, int first_line) {
  if (c == '\0') {
    fail(line_, "holds a zero byte; expected text");
  }
  if (++record_bytes_ > kMaxRecordBytes) {
    fail(first_line, "record is longer than 1 MiB; is a quote missing?");
  }
  cell.push_back(c);
}

void CsvReader::read_quoted(std::string& cell, int first_line) {
  for (int c = stream_.get(); c != kEnd; c = stream_.get()) {
    if (c == '"') {
      if (stream_.peek() != '"') {
        return;
      }
      stream_.get();
    } else if (c == '\n') {
      ++line_;
    }
    take(static_cast<char>(c), cell, first_line);
  }
  fail(first_line, "a quoted cell does not end before the end of the file");
}

void CsvReader::skip_to_header() {
  std::string line;
  for (auto start = stream_.tellg(); std::getline(stream_, line); start = stream_.tellg()) {
    if (line.find(surroundings_.header_begins) == (line.starts_with('"') ? 1U : 0U)) {
      stream_.seekg(start);
      return;
    }
    ++line_;
  }
  fail(0, fmt::format("has no header: no line begins with {}", surroundings_.header_begins));
}

void CsvReader::skip_blank_lines() {
  for (int c = stream_.peek();; c = stream_.peek()) {
    if (c == '\n' || c == '\r') {
      line_ += stream_.get() == '\n' ? 1 : 0;
    } else if (surroundings_.comment != 0 && c == surroundings_.comment) {
      stream_.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
      ++line_;
    } else {
      return;
    }
  }
}

bool CsvReader::read_record(CsvRecord& record) {
  skip_blank_lines();
  if (stream_.peek() == kEnd) {
    return false;
  }
  record.cells.clear();
  record.cells.emplace_back();
  record.line = line_;
  record_bytes_ = 0;
  bool after_quote = false;
  for (int c = stream_.get();; c = stream_.get()) {
    if (c == '\r' && stream_.peek() == '\n') {
      continue;
    }
    if (c == '\r' && stream_.peek() != kEnd) {
      fail(line_, "holds a carriage return without a line feed; expected lines that end in LF or CRLF");
    }
    if (c == '\n' || c == kEnd) {
      ++line_;
      return true;
    }
    if (c == ',') {
      record.cells.emplace_back();
      after_quote = false;
    } else if (after_quote) {
      fail(line_, "text follows a closing quote; expected a comma or the end of the line");
    } else if (c == '"' && record.cells.back().empty()) {
      read_quoted(record.cells.back(), record.line);
      after_quote = true;
    } else {
      take(static_cast<char>(c), record.cells.back(), record.line);
    }
  }
}

std::optional<double> csv_number(const CsvReader& reader, const CsvRecord& record, std::size_t column) {
  const std::string text = trimmed(record.cells[column]);
  if (text.empty()) {
    return std::nullopt;
  }
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value < 0) {
    throw InputError(
        Diagnostic{reader.path(), record.line, 0, reader.header()[column],
                   fmt::format("'{}' is not a number of zero or more; leave the cell empty if unknown", text)});
  }
  return value;
}

}  // namespace strata
