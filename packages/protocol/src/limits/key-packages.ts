// Limits of key packages.
import type { Limit } from './limit.ts'

export const keyPackageLimits = {
  keyPackages: {
    default: 100,
    min: 20,
    max: 1000,
    setting: 'LIMIT_KEY_PACKAGES',
    means: 'key packages of one device that can be given out, besides its last resort',
  },
  keyPackageDevices: {
    default: 10,
    min: 1,
    max: 100,
    setting: 'LIMIT_KEY_PACKAGE_DEVICES',
    means:
      'devices of one account that have key packages; a new one replaces the one that uploaded longest ago',
  },
  keyPackageDays: {
    default: 90,
    min: 1,
    max: 3650,
    setting: 'LIMIT_KEY_PACKAGE_DAYS',
    means: 'how far ahead a key package may expire',
  },
  keyPackageClaims: {
    default: 5,
    min: 1,
    max: 1000,
    setting: 'LIMIT_KEY_PACKAGE_CLAIMS',
    means:
      'how often in a day, by UTC, one account gets key packages of the same other one; then it gets last resorts',
  },
} as const satisfies Record<string, Limit>
