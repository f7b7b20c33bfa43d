// The settings of push, and what they come to. Read by config.ts, which is the only reader of the environment.
import { SettingError } from '../operations/setting-error.ts'
import { AllowedHosts } from './public-addresses.ts'

/** Settings of push. */
export const pushSettings = {
  PUSH_SUBJECT: {
    default: '',
    means:
      'how push services reach you, mailto:you@example.org or https://…; some take nothing without it. Empty: PUBLIC_URL',
  },
  PUSH_ALLOW: {
    default: '',
    means:
      'hosts, addresses and networks (such as 10.0.0.0/8) that pushes may be sent to although they are not public, comma-separated',
  },
  FCM_SERVICE_ACCOUNT: {
    default: '',
    means:
      'file with a service account’s key, to wake Android devices by Firebase Cloud Messaging; empty: not offered',
  },
  FCM_API_URL: { default: 'https://fcm.googleapis.com', means: 'the interface of Firebase Cloud Messaging' },
} as const

/** What the settings of push come to. */
export interface PushConfig {
  /** How push services reach the operator. */
  readonly subject: string | undefined
  readonly allowed: AllowedHosts
  readonly fcm: FcmConfig | undefined
}

/** Where Firebase Cloud Messaging is, and the key for it. */
export interface FcmConfig {
  readonly apiUrl: string
  /** Path of the service account's file. */
  readonly serviceAccount: string
}

/**
 * @param text gives a setting's text, its default where the operator gave none
 * @throws SettingError at the first setting that cannot be used
 */
export function pushConfigOf(
  text: (name: keyof typeof pushSettings) => string,
  publicUrl: URL | undefined,
): PushConfig {
  const serviceAccount = text('FCM_SERVICE_ACCOUNT')
  return {
    subject:
      subjectOf(text('PUSH_SUBJECT')) ?? (publicUrl?.protocol === 'https:' ? publicUrl.origin : undefined),
    allowed: allowedOf(text('PUSH_ALLOW')),
    fcm: serviceAccount === '' ? undefined : { serviceAccount, apiUrl: apiUrlOf(text('FCM_API_URL')) },
  }
}

function subjectOf(text: string): string | undefined {
  if (text === '') return undefined
  if (!/^mailto:[^\s@]+@[^\s@]+$/.test(text) && !(text.startsWith('https://') && URL.canParse(text)))
    throw new SettingError(
      'PUSH_SUBJECT',
      'an address such as mailto:you@example.org, or a URL that begins with https://',
    )
  return text
}

function allowedOf(text: string): AllowedHosts {
  try {
    return new AllowedHosts(
      text
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
    )
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new SettingError(
      'PUSH_ALLOW',
      `hosts, addresses and networks such as 10.0.0.0/8; "${error.message}" is none`,
    )
  }
}

function apiUrlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'https:' || url.search !== '' || url.username !== '' || url.password !== '')
    throw new SettingError('FCM_API_URL', 'a URL that begins with https://, without a query or a password')
  return url.href.replace(/\/+$/, '')
}
