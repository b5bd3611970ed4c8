#!/bin/sh
# Calls the compiler; what is compiled as one unit of code gets the counters that libFuzzer reads.
# No other crate does, so what the package compiled is used as it is. Cargo does not see these flags,
# but it sees the number of units, and keeps both kinds apart by it.
case " $* " in
*" --crate-name build_script_"*) exec "$@" ;;
*" codegen-units=1 "*)
  exec "$@" \
    -C passes=sancov-module \
    -C llvm-args=-sanitizer-coverage-level=4 \
    -C llvm-args=-sanitizer-coverage-inline-8bit-counters \
    -C llvm-args=-sanitizer-coverage-pc-table \
    -C llvm-args=-sanitizer-coverage-trace-compares
  ;;
*) exec "$@" ;;
esac
