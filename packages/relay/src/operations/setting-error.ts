// A setting that cannot be used, as the room it belongs to says so.

/** The message names the setting and the rule, and never holds the value, which may be a secret. */
export class SettingError extends Error {
  override readonly name = 'SettingError'
  readonly setting: string

  /** @param rule what the setting must be, as it follows "must be" */
  constructor(setting: string, rule: string) {
    super(`${setting} must be ${rule}`)
    this.setting = setting
  }
}
