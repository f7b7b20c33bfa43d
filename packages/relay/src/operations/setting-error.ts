// The error by which a feature's folder rejects one of its settings.

/** Its message names the setting and the rule, but never the value, which may be a secret. */
export class SettingError extends Error {
  override readonly name = 'SettingError'
  readonly setting: string

  /** @param rule the text that follows "must be" */
  constructor(setting: string, rule: string) {
    super(`${setting} must be ${rule}`)
    this.setting = setting
  }
}
