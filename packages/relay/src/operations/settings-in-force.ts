// The settings as they are in force, without secrets.

/** A setting and its value. */
export interface SettingInForce {
  readonly name: string
  /** Null if it is a secret. */
  readonly value: string | null
  /** Whether the operator has set it. */
  readonly is_set: boolean
}

/** Settings whose values nobody has to see. The extended public keys tell every deposit address. */
const SECRET = /SECRET|PASSWORD|PASSPHRASE|XPUB|_KEY$|^DATABASE_URL$/

/** @param defaults the value of each setting if the environment has none */
export function settingsInForce(
  environment: Readonly<Record<string, string | undefined>>,
  defaults: Readonly<Record<string, string | undefined>>,
): readonly SettingInForce[] {
  return Object.entries(defaults).map(([name, usual = '']) => {
    const given = environment[name]?.trim() ?? ''
    if (given === '') return { name, value: usual, is_set: false }
    return { name, value: SECRET.test(name) ? null : withoutSecrets(given), is_set: true }
  })
}

// An address may have a password or an access key in any part but its host.
function withoutSecrets(value: string): string | null {
  if (!value.includes('://')) return value
  const shown = value.split(',').map(originOf)
  return shown.every((each) => each !== undefined) ? shown.join(', ') : null
}

function originOf(text: string): string | undefined {
  const url = URL.parse(text.trim())
  if (!url?.host) return undefined
  const isAll = url.pathname.length <= 1 && url.search === '' && url.hash === ''
  return `${url.protocol}//${url.host}${isAll ? '' : '/…'}`
}
