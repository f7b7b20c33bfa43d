// The few commands of the W3C's WebDriver that the tests need.
import { type Control, PATIENCE_MS, type Tab } from './tab.ts'

/** The key under which WebDriver names an element. */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
const ENTER = '\uE007'

/** A tab in a browser of its own, which a WebDriver has started. */
export class WebDriverTab implements Tab {
  readonly #session: string

  /** @param address of the driver */
  static async begin(address: string): Promise<WebDriverTab> {
    const begun = await command('POST', `${address}/session`, { capabilities: {} })
    const tab = new WebDriverTab(`${address}/session/${Reflect.get(Object(begun), 'sessionId')}`)
    await tab.#ask('POST', 'timeouts', { script: PATIENCE_MS })
    await tab.#ask('POST', 'window/rect', { width: 1100, height: 720 })
    return tab
  }

  private constructor(session: string) {
    this.#session = session
  }

  async open(url: string): Promise<void> {
    await this.#ask('POST', 'url', { url })
  }

  async reload(): Promise<void> {
    await this.#ask('POST', 'refresh', {})
  }

  async compute(expression: string): Promise<unknown> {
    const script = `Promise.resolve(${expression}).then(arguments[0])`
    return this.#ask('POST', 'execute/async', { script, args: [] })
  }

  async find(expression: string): Promise<Control> {
    const path = `element/${Reflect.get(Object(await this.compute(expression)), ELEMENT)}`
    const type = async (text: string): Promise<void> => {
      await this.#ask('POST', `${path}/value`, { text })
    }
    return {
      click: async () => {
        await this.#ask('POST', `${path}/click`, {})
      },
      type: (text) => type(text.replaceAll('\n', ENTER)),
      choose: type,
    }
  }

  async picture(): Promise<Uint8Array> {
    return Buffer.from(String(await this.#ask('GET', 'screenshot')), 'base64')
  }

  async close(): Promise<void> {
    await command('DELETE', this.#session)
  }

  #ask(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> {
    return command(method, `${this.#session}/${path}`, body)
  }
}

/** @throws Error with the driver's words if it refuses */
async function command(method: string, url: string, body?: object): Promise<unknown> {
  const answer = await fetch(url, { method, ...(body && { body: JSON.stringify(body) }) })
  const said: unknown = await answer.json()
  const value: unknown = Reflect.get(Object(said), 'value')
  if (!answer.ok) throw new Error(`${method} ${new URL(url).pathname}: ${JSON.stringify(value)}`)
  return value
}
