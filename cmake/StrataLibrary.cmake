# Every second-level folder is one static library (or an interface library when it holds headers alone).
#   strata_library(sim_base)                            -> target strata_sim_base from the .cpp files beside it
#   strata_library(sim_event DEPS sim_base PRIVATE fmt) -> DEPS are our own libraries, PRIVATE third-party targets
add_library(strata_options INTERFACE)
target_include_directories(strata_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(strata_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
# GCC 12 reports an impossible overlap in inlined std::string concatenation (GCC bug 105651).
target_compile_options(strata_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(STRATA_WARNINGS_AS_ERRORS)
  target_compile_options(strata_options INTERFACE -Werror)
endif()
if(STRATA_SANITIZE)
  # The instrumentation hides initialisations from GCC 12's flow analysis (std::regex, boost::optional).
  target_compile_options(strata_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_compile_options(strata_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all
                                                  -fno-omit-frame-pointer)
  target_link_options(strata_options INTERFACE -fsanitize=address,undefined)
endif()

function(strata_library name)
  cmake_parse_arguments(ARG "" "" "DEPS;PRIVATE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(deps "")
  foreach(dep IN LISTS ARG_DEPS)
    list(APPEND deps strata_${dep})
  endforeach()
  if(sources)
    add_library(strata_${name} STATIC ${sources})
    target_link_libraries(strata_${name} PUBLIC strata_options ${deps} PRIVATE ${ARG_PRIVATE})
  else()
    add_library(strata_${name} INTERFACE)
    target_link_libraries(strata_${name} INTERFACE strata_options ${deps})
  endif()
endfunction()
