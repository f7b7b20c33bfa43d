// The settings as they are in force, without secrets.
import { createHash } from 'node:crypto'

/** A setting and its value. */
export interface SettingInForce {
  readonly name: string
  /** Null if it is a secret. */
  readonly value: string | null
  /** Whether the operator has set it. */
  readonly is_set: boolean
  /** A short hash of the name and the value; undefined if each node may have a value of its own. */
  readonly sharedHash: string | undefined
}

/** Settings whose values nobody has to see. The extended public keys tell every deposit address. */
const SECRET = /SECRET|PASSWORD|PASSPHRASE|XPUB|_KEY$|^DATABASE_URL$/

/** Settings about one machine: its ports, files, disks and connections. */
const OF_ONE_NODE =
  /^(?:PORT|HOST|DATABASE_.*|NATS_URL|WORKERS|TRUST_PROXY|.*_DIR|.*_FILE|VANITY_RULES|FCM_SERVICE_ACCOUNT|LOG_LEVEL|SECURITY_LOG|METRICS_.*|DRAIN_.*|UPGRADE_.*|TLS_.*|HTTP_PORT|ACME_.*|DISK_.*|BACKUP_.*|EVM_.*RPC_URLS|EVM_POLL_MS|TRON_API_.*)$/
/**
 * Hexadecimal digits of a hash. Two values have the same one once in 65,536 times. So it shows that nodes
 * differ, but a stolen hash does not tell which of many guesses at a secret is right.
 */
const HASH_DIGITS = 4

/** @param defaults the value of each setting if the environment has none */
export function settingsInForce(
  environment: Readonly<Record<string, string | undefined>>,
  defaults: Readonly<Record<string, string | undefined>>,
): readonly SettingInForce[] {
  return Object.entries(defaults).map(([name, usual = '']) => {
    const given = environment[name]?.trim() ?? ''
    const sharedHash = OF_ONE_NODE.test(name) ? undefined : hashOf(name, given || usual)
    if (given === '') return { name, value: usual, is_set: false, sharedHash }
    return { name, value: SECRET.test(name) ? null : withoutSecrets(given), is_set: true, sharedHash }
  })
}

/** The hashes by the names of their settings. */
export function sharedHashes(settings: readonly SettingInForce[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    settings.flatMap(({ name, sharedHash }) => (sharedHash ? [[name, sharedHash]] : [])),
  )
}

function hashOf(name: string, value: string): string {
  return createHash('sha256').update(`${name}=${value}`).digest('hex').slice(0, HASH_DIGITS)
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
