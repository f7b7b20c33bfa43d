// The few commands of the W3C's WebDriver that the tests need.
import { type Control, PATIENCE_MS, type Tab } from './tab.ts'

/** The key under which WebDriver names an element. */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
const ENTER = '\uE007'

/**
 * For how long the driver may be silent: longer than it awaits a script, which it answers then. A browser
 * that has died can leave a request without an answer for ever.
 */
const SILENCE_MS = PATIENCE_MS + 30_000

/** A tab in a browser of its own, which a WebDriver has started. */
export class WebDriverTab implements Tab {
  readonly #session: string
  readonly #silenceMs: number

  /**
   * @param address of the driver
   * @param silenceMs for how long the driver may be silent
   */
  static async begin(address: string, silenceMs = SILENCE_MS): Promise<WebDriverTab> {
    const begun = await command('POST', `${address}/session`, silenceMs, { capabilities: {} })
    const session = `${address}/session/${Reflect.get(Object(begun), 'sessionId')}`
    const tab = new WebDriverTab(session, silenceMs)
    await tab.#ask('POST', 'timeouts', { script: PATIENCE_MS })
    await tab.#ask('POST', 'window/rect', { width: 1100, height: 720 })
    return tab
  }

  private constructor(session: string, silenceMs: number) {
    this.#session = session
    this.#silenceMs = silenceMs
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
      click: () => this.#click(path),
      type: (text) => type(text.replaceAll('\n', ENTER)),
      choose: type,
    }
  }

  /** Clicks the middle of an element. @throws Error if the page moved, so that the click missed it */
  async #click(path: string): Promise<void> {
    const args = [{ [ELEMENT]: path.slice('element/'.length) }]
    const run = (script: string): Promise<unknown> => this.#ask('POST', 'execute/async', { script, args })
    await run(`const [element, done] = arguments
      element.wasClicked = false
      element.addEventListener('click', () => { element.wasClicked = true }, { capture: true, once: true })
      done()`)
    await this.#ask('POST', `${path}/click`, {})
    // Where the click has led to another page, or has removed the element, there is none to ask.
    const wasClicked = await run(`const [element, done] = arguments
      requestAnimationFrame(() => requestAnimationFrame(() => done(element.wasClicked)))`).catch(() => true)
    if (wasClicked !== true) throw new Error('the page moved, and the click missed the element')
  }

  async picture(): Promise<Uint8Array> {
    return Buffer.from(String(await this.#ask('GET', 'screenshot')), 'base64')
  }

  async close(): Promise<void> {
    await command('DELETE', this.#session, this.#silenceMs)
  }

  #ask(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> {
    return command(method, `${this.#session}/${path}`, this.#silenceMs, body)
  }
}

/** @throws Error with the driver's words if it refuses, and one that names the command if it is silent */
async function command(method: string, url: string, silenceMs: number, body?: object): Promise<unknown> {
  const named = `${method} ${new URL(url).pathname}`
  const signal = AbortSignal.timeout(silenceMs)
  const ask = async (): Promise<{ readonly isDone: boolean; readonly said: unknown }> => {
    const answer = await fetch(url, { method, signal, ...(body && { body: JSON.stringify(body) }) })
    return { isDone: answer.ok, said: await answer.json() }
  }
  const { isDone, said } = await ask().catch((cause) => {
    if (!signal.aborted) throw cause
    throw new Error(`${named}: the driver has not answered for ${silenceMs / 1000} s`, { cause })
  })
  const value: unknown = Reflect.get(Object(said), 'value')
  if (!isDone) throw new Error(`${named}: ${JSON.stringify(value)}`)
  return value
}
