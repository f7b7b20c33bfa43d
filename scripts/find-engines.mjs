// Finds the browsers of other engines than Chromium's, with what drives them.
import { existsSync } from 'node:fs'

const FIREFOX = '/usr/bin/firefox-esr'
const WEBKIT = ['/usr/bin/WebKitWebDriver', '/usr/bin/Xvfb']

// The path in FIREFOX, or Debian's.
export function findFirefox() {
  const path = process.env.FIREFOX || FIREFOX
  return existsSync(path) ? path : undefined
}

// The programs that drive WebKitGTK's MiniBrowser, which Debian's package of the driver brings, and that give
// it a display.
export function findWebKit() {
  const [driver, display] = WEBKIT
  return existsSync(driver) && existsSync(display) ? { driver, display } : undefined
}
