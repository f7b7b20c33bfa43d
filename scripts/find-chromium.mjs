// Finds Chromium: the path in CHROMIUM, or Debian's.
import { existsSync } from 'node:fs'

const programs = ['/usr/bin/chromium', '/usr/bin/chromium-browser']

export function findChromium() {
  const named = process.env.CHROMIUM
  if (named) return existsSync(named) ? named : undefined
  return programs.find((path) => existsSync(path))
}
