// Chooses the form of a text that a number needs.
type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { readonly other: string }

const rules = new Map<string, Intl.PluralRules>()
const numbers = new Map<string, Intl.NumberFormat>()

/** The form of `count` in a language, with `#` replaced by the number. */
export function plural(language: string, count: number, forms: Forms): string {
  const rule = remembered(rules, language, () => new Intl.PluralRules(language))
  const number = remembered(numbers, language, () => new Intl.NumberFormat(language))
  return (forms[rule.select(count)] ?? forms.other).replace('#', number.format(count))
}

function remembered<T>(known: Map<string, T>, key: string, make: () => T): T {
  const value = known.get(key) ?? make()
  known.set(key, value)
  return value
}
