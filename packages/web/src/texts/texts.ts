// The app's texts in the user's language. A text that takes values is a function. What everyone needs before
// the first message is in `texts`; the other screens have files of their own, which are loaded with them.
import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { en } from './en/en.ts'

/** The languages of the app, each with its own name for itself. */
export const LANGUAGES = { en: 'English', ar: 'العربية' } as const
export type Language = keyof typeof LANGUAGES
type Translations<T> = Readonly<Record<Exclude<Language, 'en'>, () => Promise<T>>>

const current = signal<Language>('en')
const loaders: ((name: Language) => Promise<void>)[] = []

/** The language that is shown. */
export const language: ReadonlySignal<Language> = current

/**
 * Texts of a part of the app. A component that reads the value is rendered again when the language changes.
 * English is part of the module that calls this; {@link loadTexts} loads the other languages.
 */
export function translated<T>(english: T, others: Translations<T>): ReadonlySignal<T> {
  const loaded = signal<Partial<Record<Language, T>>>({ en: english })
  loaders.push(async (name) => {
    if (name === 'en' || loaded.peek()[name]) return
    const translation = await others[name]()
    loaded.value = { ...loaded.peek(), [name]: translation }
  })
  return computed(() => loaded.value[language.value] ?? english)
}

/** The texts that are needed before the first message. */
export const texts = translated(en, { ar: async () => (await import('./ar/ar.ts')).ar })

/**
 * Loads the texts of all parts that are loaded. Call it after loading a part of the app, before showing it.
 * @throws TypeError if they cannot be loaded
 */
export async function loadTexts(name: Language = language.peek()): Promise<void> {
  await Promise.all(loaders.map((load) => load(name)))
}

/** Loads a language, then shows it: also the direction of the page follows it. */
export async function setLanguage(name: Language): Promise<void> {
  await loadTexts(name)
  current.value = name
  document.documentElement.lang = name
  document.documentElement.dir = name === 'ar' ? 'rtl' : 'ltr'
}

/** The first language of the browser that the app has; English otherwise. */
export function browserLanguage(): Language {
  const wanted = navigator.languages.map((tag) => tag.split('-', 1).join(''))
  return wanted.find(isLanguage) ?? 'en'
}

export function isLanguage(name: unknown): name is Language {
  return typeof name === 'string' && Object.hasOwn(LANGUAGES, name)
}
