// Who runs an operator's command, for the records of the relay.

/** The user of this process, or who became root by `sudo`. */
export function currentUser(): string {
  const { SUDO_USER } = process.env
  if (SUDO_USER) return `${SUDO_USER} (sudo)`
  return nameOfUser() ?? `user ${process.getuid?.() ?? 'unknown'}`
}

// From the system, because Bun's userInfo trusts the variable USER. A container may have no `id` command or
// no name.
function nameOfUser(): string | undefined {
  try {
    const { success, stdout } = Bun.spawnSync(['id', '-un'], { stderr: 'ignore' })
    return success ? stdout.toString().trim() : undefined
  } catch {
    return undefined
  }
}
