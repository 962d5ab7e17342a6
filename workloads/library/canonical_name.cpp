/// canonical_kernel_name(): one spelling for the names that ncu, the CUDA profiler and nsys print differently.
#include <fmt/format.h>

#include <cctype>
#include <string>
#include <string_view>

#include "workloads/library/resolve.hpp"

namespace strata {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void erase_all(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

/// Replaces whole words only: "false" but not "is_false".
void replace_word(std::string& text, std::string_view from, std::string_view to) {
  std::size_t at = text.find(from);
  while (at != std::string::npos) {
    const std::size_t end = at + from.size();
    const bool whole = (at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]));
    if (whole) {
      text.replace(at, from.size(), to);
    }
    at = text.find(from, at + (whole ? to.size() : from.size()));
  }
}

/// Removes the parameter list: from the first parenthesis outside template arguments that no "::" follows.
void drop_parameters(std::string& text) {
  int angles = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<') {
      ++angles;
    } else if (c == '>' && (i == 0 || text[i - 1] != '-')) {
      --angles;
    } else if (c == '(' && angles == 0) {
      int depth = 0;
      std::size_t end = i;
      for (; end < text.size(); ++end) {
        depth += text[end] == '(' ? 1 : (text[end] == ')' ? -1 : 0);
        if (depth == 0) {
          break;
        }
      }
      if (end + 2 < text.size() && text.compare(end + 1, 2, "::") == 0) {
        i = end;
        continue;
      }
      text.erase(i);
      return;
    }
  }
}

/// "3ul" -> "3": integer suffixes that some demanglers print.
void drop_integer_suffixes(std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const bool starts_number =
        std::isdigit(static_cast<unsigned char>(text[i])) != 0 && (i == 0 || !is_word(text[i - 1]));
    out += text[i++];
    if (!starts_number) {
      continue;
    }
    while (i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0) {
      out += text[i++];
    }
    std::size_t end = i;
    while (end < text.size() && (text[end] == 'u' || text[end] == 'l' || text[end] == 'U' || text[end] == 'L')) {
      ++end;
    }
    if (end == text.size() || !is_word(text[end])) {
      i = end;
    }
  }
  text = std::move(out);
}

/// One space after commas, none around brackets, pointers and references.
void even_out_spaces(std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != ' ') {
      out += c;
      if (c == ',') {
        out += ' ';
      }
      continue;
    }
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    const bool needed = !out.empty() && is_word(out.back()) && is_word(next);
    if (needed) {
      out += ' ';
    }
  }
  while (!out.empty() && out.back() == ' ') {
    out.pop_back();
  }
  text = std::move(out);
}

}  // namespace

std::string canonical_kernel_name(std::string_view name) {
  std::string text(name);
  replace_all(text, "\t", " ");
  while (!text.empty() && text.front() == ' ') {
    text.erase(0, 1);
  }
  if (text.starts_with("void ")) {
    text.erase(0, 5);
  }
  erase_all(text, "(anonymous namespace)::");
  erase_all(text, "<unnamed>::");
  erase_all(text, "unnamed>::");  // ncu leaves out a namespace that all kernels of a report share, and "<" with it
  replace_all(text, "at::native::", "at::");
  for (const char* type : {"int", "bool", "unsigned int", "long", "unsigned long"}) {
    for (const char* before : {"<", ", "}) {
      replace_all(text, fmt::format("{}({})", before, type), before);
    }
  }
  drop_parameters(text);
  replace_word(text, "false", "0");
  replace_word(text, "true", "1");
  drop_integer_suffixes(text);
  even_out_spaces(text);
  return text;
}

}  // namespace strata
