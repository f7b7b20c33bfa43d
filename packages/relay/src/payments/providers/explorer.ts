// Links to transactions in a block explorer that the operator chose.
import { SettingError } from '../../operations/setting-error.ts'

/**
 * The address of a transaction's page in an explorer, with `{transaction}` in place of its hash: the text
 * itself, or the text followed by `/tx/{transaction}`. Undefined if it is no https URL.
 */
export function explorerTemplateOf(text: string): string | undefined {
  if (!URL.canParse(text) || new URL(text).protocol !== 'https:') return undefined
  return text.includes('{transaction}') ? text : `${text.replace(/\/$/, '')}/tx/{transaction}`
}

/** The page of a transaction. */
export function explorerPageOf(template: string | undefined, transaction: string): string | undefined {
  return template?.replaceAll('{transaction}', encodeURIComponent(transaction))
}

/** The template in a setting; undefined if the setting is empty. @throws SettingError */
export function explorerSettingOf(setting: string, text: string): string | undefined {
  if (text === '') return undefined
  const template = explorerTemplateOf(text)
  if (template === undefined)
    throw new SettingError(setting, 'a URL that begins with https://, which may contain {transaction}')
  return template
}
