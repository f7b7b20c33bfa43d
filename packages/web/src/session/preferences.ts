// What the app must know before its store is open: the relay, the theme, the language. Kept in the browser's
// local storage, which every tab reads.
import { effect, signal } from '@preact/signals'
import { browserLanguage, isLanguage, type Language, setLanguage } from '../texts/texts.ts'

const KEY = 'sotto'

export type NoticeDetail = 'off' | 'hidden' | 'sender' | 'text'
/** After how many minutes without use the app can lock; 0 is never. */
export const LOCK_AFTER = [0, 1, 5, 15, 60] as const
export type LockAfter = (typeof LOCK_AFTER)[number]
export type Theme = 'system' | 'light' | 'dark'

/** The choices of the user on this device. */
export interface Preferences {
  /** The relay's address, once it is known. */
  readonly relayUrl?: string
  readonly theme: Theme
  readonly language: Language
  /** The user has not yet shown to have written down the recovery phrase. */
  readonly isPhraseUnconfirmed?: boolean
  /** The log of calls was seen up to the call that began at this time, in milliseconds since 1970. */
  readonly callsSeenAt: number
  /** After how many minutes without use the app locks, if a passphrase is set; 0 is never. */
  readonly lockAfterMinutes: LockAfter
  /**
   * Whether the user is notified of messages and calls, and what a notification may say: that there is one,
   * from whom, or also the text.
   */
  readonly notices: NoticeDetail
}

export const preferences = signal<Preferences>(read())

/** Changes some preferences, for all tabs. */
export function prefer(changes: Partial<Preferences>): void {
  preferences.value = { ...preferences.value, ...changes }
  localStorage.setItem(KEY, JSON.stringify(preferences.value))
}

/** Follows the theme and the language from now on. Resolves when the language is there. */
export async function applyPreferences(): Promise<void> {
  window.addEventListener('storage', ({ key }) => {
    if (key === KEY) preferences.value = read()
  })
  effect(() => {
    const { theme } = preferences.value
    if (theme === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = theme
  })
  await setLanguage(preferences.value.language)
  let shown = preferences.value.language
  effect(() => {
    const { language } = preferences.value
    if (language === shown) return
    shown = language
    void setLanguage(language)
  })
}

// Another version of the app, or a person, may have written anything there.
function read(): Preferences {
  const stored = parse(localStorage.getItem(KEY))
  const { relayUrl, theme, language, isPhraseUnconfirmed, notices, callsSeenAt, lockAfterMinutes } = stored
  return {
    ...(typeof relayUrl === 'string' ? { relayUrl } : {}),
    theme: theme === 'light' || theme === 'dark' ? theme : 'system',
    language: isLanguage(language) ? language : browserLanguage(),
    ...(isPhraseUnconfirmed === true ? { isPhraseUnconfirmed } : {}),
    callsSeenAt: typeof callsSeenAt === 'number' ? callsSeenAt : 0,
    lockAfterMinutes: LOCK_AFTER.find((each) => each === lockAfterMinutes) ?? 0,
    notices: notices === 'hidden' || notices === 'sender' || notices === 'text' ? notices : 'off',
  }
}

function parse(text: string | null): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '{}')
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
