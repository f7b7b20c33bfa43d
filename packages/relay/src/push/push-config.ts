// The settings of push, and the configuration made from them. Only config.ts reads the environment and calls
// this.
import { SettingError } from '../operations/setting-error.ts'
import { AllowedHosts } from './public-addresses.ts'

/** Settings of push. */
export const pushSettings = {
  PUSH_SUBJECT: {
    default: '',
    means:
      'your contact address for push services, mailto:you@example.org or https://…; some refuse pushes without it. If empty, PUBLIC_URL',
  },
  PUSH_ALLOW: {
    default: '',
    means:
      'hosts, addresses and networks (such as 10.0.0.0/8) that are not public but may get pushes, comma-separated',
  },
  FCM_SERVICE_ACCOUNT: {
    default: '',
    means:
      'file with a service account’s key, to wake Android devices through Firebase Cloud Messaging; if empty, the relay does not offer this',
  },
  FCM_API_URL: {
    default: 'https://fcm.googleapis.com',
    means: 'address of the Firebase Cloud Messaging API',
  },
} as const

/** The configuration of push. */
export interface PushConfig {
  /** Contact address of the operator for push services. */
  readonly subject: string | undefined
  readonly allowed: AllowedHosts
  readonly fcm: FcmConfig | undefined
}

/** The address of Firebase Cloud Messaging and the key for it. */
export interface FcmConfig {
  readonly apiUrl: string
  /** Path of the service account's file. */
  readonly serviceAccount: string
}

/**
 * @param text returns a setting's text, or its default if the operator did not set it
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
