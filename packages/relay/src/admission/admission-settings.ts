// The settings that say who may register. Only config.ts reads the environment and calls this.
import { type RegistrationMode, registrationModes } from '@sotto/protocol'
import { SettingError } from '../operations/setting-error.ts'

/** Settings of admission. */
export const admissionSettings = {
  REGISTRATION: {
    default: 'open',
    means: 'who may register: open (everybody), invite (who has an invite) or closed (nobody)',
  },
  INVITES_BY_MEMBERS: {
    default: '0',
    means: 'how many people each member can invite, 0 to 10000; the operator can always',
  },
  POW_RISES_AT: {
    default: '300',
    means:
      'registrations in ten minutes at which a proof of work needs one zero more than LIMIT_POW_DIFFICULTY, 16 times the work; one more for each four times as many; off keeps it as it is, and so does RATE_LIMITS=off',
  },
  POW_DIFFICULTY_MOST: { default: '5', means: 'the most zeros that it can need, 1 to 5' },
} as const

/** Returns a setting's text, or its default if the operator did not set it. */
export type AdmissionSettingText = (name: keyof typeof admissionSettings) => string

/** Who may register. */
export interface AdmissionConfig {
  readonly registration: RegistrationMode
  /** How many invites each member can make. */
  readonly invitesByMembers: number
  /** How many registrations in ten minutes make a proof of work harder; undefined if none do. */
  readonly powRisesAt: number | undefined
  /** The most zeros that it can need. */
  readonly powMost: number
}

/** @throws SettingError at the first setting that cannot be used */
export function admissionConfigOf(text: AdmissionSettingText): AdmissionConfig {
  const given = text('REGISTRATION')
  const registration = registrationModes.find((mode) => mode === given)
  if (!registration) throw new SettingError('REGISTRATION', `one of ${registrationModes.join(', ')}`)
  const rises = text('POW_RISES_AT')
  return {
    registration,
    invitesByMembers: whole('INVITES_BY_MEMBERS', text('INVITES_BY_MEMBERS'), { min: 0, max: 10_000 }),
    powRisesAt:
      rises === 'off' ? undefined : whole('POW_RISES_AT', rises, { max: 1_000_000, more: ', or off' }),
    powMost: whole('POW_DIFFICULTY_MOST', text('POW_DIFFICULTY_MOST'), { max: 5 }),
  }
}

function whole(
  name: string,
  text: string,
  { min = 1, max, more = '' }: { min?: number; max: number; more?: string },
): number {
  const value = /^[0-9]{1,7}$/.test(text) ? Number(text) : -1
  if (value < min || value > max) throw new SettingError(name, `a whole number from ${min} to ${max}${more}`)
  return value
}
