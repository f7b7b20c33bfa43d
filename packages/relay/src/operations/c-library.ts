// The C library of the system, for what Bun does not offer.
import { dlopen, type FFIFunction, type Library } from 'bun:ffi'

const NAMES = ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1']

/** These functions of the C library. @returns undefined if this is not Linux, or the library has others */
export function openCLibrary<T extends Record<string, FFIFunction>>(functions: T): Library<T> | undefined {
  if (process.platform !== 'linux') return undefined
  for (const name of NAMES) {
    try {
      return dlopen(name, functions)
    } catch {
      // Another C library.
    }
  }
  return undefined
}
