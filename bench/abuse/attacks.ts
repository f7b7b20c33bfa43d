// The list of all attacks.
import type { Attack } from './attack.ts'
import { connectionAttacks } from './connection-attacks.ts'
import { frameAttacks } from './frame-attacks.ts'
import { mediaAttacks } from './media-attacks.ts'
import { requestAttacks } from './request-attacks.ts'
import { shareAttacks } from './share-attacks.ts'

/** Every attack, in the order of the security review. */
export const attacks: readonly Attack[] = [
  ...mediaAttacks,
  ...connectionAttacks,
  ...shareAttacks,
  ...frameAttacks,
  ...requestAttacks,
]

/** @throws Error if there is none of this name */
export function attackNamed(name: string): Attack {
  const attack = attacks.find((one) => one.name === name)
  if (!attack)
    throw new Error(`there is no attack ${name}; there are ${attacks.map((one) => one.name).join(', ')}`)
  return attack
}
