// The app's texts in the user's language. A text that takes values is a function.
import { computed, signal } from '@preact/signals'
import { en, type Texts } from './en/en.ts'

export type { Texts } from './en/en.ts'

/** The languages of the app, by their names in themselves. */
export const LANGUAGES = { en: 'English', ar: 'العربية' } as const
export type Language = keyof typeof LANGUAGES

const loaders: Readonly<Record<Language, () => Promise<Texts>>> = {
  en: async () => en,
  ar: async () => (await import('./ar/ar.ts')).ar,
}

const current = signal<{ readonly language: Language; readonly texts: Texts }>({ language: 'en', texts: en })

/** The texts to show. A component that reads its value is rendered again when the language changes. */
export const texts = computed(() => current.value.texts)
/** The language of {@link texts}. */
export const language = computed(() => current.value.language)

/** Loads a language, then shows it: also the direction of the page follows it. */
export async function setLanguage(name: Language): Promise<void> {
  const loaded = await loaders[name]()
  current.value = { language: name, texts: loaded }
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
