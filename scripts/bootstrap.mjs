// Makes sure that the dependencies, including Bun, are installed. Takes a few milliseconds if they are.
import { isStampCurrent } from './installation.mjs'

export async function ensureInstalled() {
  if (isStampCurrent()) return
  if (Number.parseInt(process.versions.node, 10) < 20) {
    throw new Error(`Node 20 or later is needed; this is ${process.version}.`)
  }
  const { install } = await import('./install.mjs')
  await install()
}

// For the top of a command: if the installation fails, it prints only the reason, without a stack, and exits.
export async function ensureInstalledOrExit() {
  try {
    await ensureInstalled()
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}
