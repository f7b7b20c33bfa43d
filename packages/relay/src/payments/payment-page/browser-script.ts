// The payment page's script, which runs in browsers: polls the state of the payment, and updates the texts
// and the countdown.
import type { PageState } from './state.ts'

const HIDDEN_MS = 20_000
const PATIENCE_MS = 10_000
const MOST_BACKOFF_MS = 30_000
const FEEDBACK_MS = 2500

const stateUrl = `${location.pathname}/state`
const page = elementOf('main')

let state: PageState
/** `performance.now()` when `state` was received. */
let shownAt: number
let shownArrivals = '[]'
let failures = 0
let isFetching = false
let timer: ReturnType<typeof setTimeout> | undefined

function elementOf(selector: string): HTMLElement {
  const element = document.querySelector<HTMLElement>(selector)
  if (!element) throw new Error(`no ${selector} in this page`)
  return element
}

function setText(name: string, text: string): void {
  const element = elementOf(`[data-text="${name}"]`)
  // Screen readers announce text that is written, even if it did not change.
  if (element.textContent !== text) element.textContent = text
}

function setPart(name: string, isShown: boolean, change: (part: HTMLElement) => void = () => {}): void {
  const part = document.querySelector<HTMLElement>(`[data-part="${name}"]`)
  if (!part) return
  part.hidden = !isShown
  if (isShown) change(part)
}

function setAttribute(part: HTMLElement, name: string, value: string): void {
  if (part.getAttribute(name) !== value) part.setAttribute(name, value)
}

function show(next: PageState): void {
  state = next
  shownAt = performance.now()
  page.dataset.state = next.state
  const { headline, detail, due, dueLabel, confirmations, payUri } = next
  document.title = `${headline} – ${elementOf('h1').textContent}`
  for (const [name, text] of Object.entries({ headline, detail, due, dueLabel })) setText(name, text)
  const isPayable = next.expiresAt !== undefined
  setPart('code', isPayable, (code) => setAttribute(code, 'src', `${location.pathname}/code.svg?${due}`))
  setPart('wallet', payUri !== undefined, (wallet) => setAttribute(wallet, 'href', payUri ?? ''))
  setPart('pay', isPayable)
  setPart('receipt', next.hasReceipt)
  setPart('arrivals', next.arrivals.length > 0, () => showArrivals(next.arrivals))
  setPart('confirmations', confirmations !== undefined, (part) => {
    const progress = part.querySelector('progress')
    if (!confirmations || !progress) return
    setText('confirmations', confirmations.text)
    progress.max = confirmations.need
    progress.value = Math.min(confirmations.have, confirmations.need)
  })
  tick()
}

function showArrivals(arrivals: PageState['arrivals']): void {
  const text = JSON.stringify(arrivals)
  // A list that did not change keeps the reader's selection.
  if (text === shownArrivals) return
  shownArrivals = text
  const list = elementOf('[data-list="arrivals"]')
  list.replaceChildren(
    ...arrivals.map(({ text, detail, reference, page: address }) => {
      const name = document.createElement(address === undefined ? 'span' : 'a')
      name.className = 'reference'
      name.textContent = reference
      if (name instanceof HTMLAnchorElement && address !== undefined) {
        Object.assign(name, { href: address, target: '_blank', rel: 'noopener noreferrer' })
      }
      const [what, then] = [document.createElement('p'), document.createElement('p')]
      what.textContent = text
      then.textContent = detail
      then.className = 'detail'
      const item = document.createElement('li')
      item.append(what, then, name)
      return item
    }),
  )
}

function tick(): void {
  if (state.expiresAt === undefined) return
  const leftMs = Math.max(0, state.expiresAt - state.now - (performance.now() - shownAt))
  const seconds = Math.floor(leftMs / 1000)
  setText('left', timeLeft(seconds))
  setText('timerLabel', seconds > 0 ? 'Time left' : 'Looking for payments made in time')
  elementOf('[data-part="timer"]').classList.toggle('soon', seconds < 120)
  const until = new Date(state.expiresAt).toLocaleString([], {
    ...(seconds < 3600 ? {} : { day: 'numeric', month: 'long', year: 'numeric' }),
    ...{ hour: 'numeric', minute: '2-digit' },
  })
  setText('until', `until ${until}`)
}

// As the HTML shows it at load: `2 d 5 h`, `1:02:03` or `4:05`.
function timeLeft(seconds: number): string {
  const [days, hours] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600) % 24]
  if (days > 0) return `${days} d ${hours} h`
  const two = (count: number): string => count.toString().padStart(2, '0')
  const minutes = Math.floor(seconds / 60) % 60
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}

async function update(): Promise<void> {
  if (isFetching || state.againMs === undefined) return
  isFetching = true
  clearTimeout(timer)
  let retryAfterMs = 0
  try {
    const response = await fetch(stateUrl, { cache: 'no-store', signal: AbortSignal.timeout(PATIENCE_MS) })
    retryAfterMs = Number(response.headers.get('retry-after') ?? 0) * 1000
    if (!response.ok) throw new Error(`answered ${response.status}`)
    const next: PageState = await response.json()
    // Another way to pay was chosen, in another window or by a program.
    if (next.method !== state.method) location.reload()
    else show(next)
    failures = 0
  } catch {
    failures += 1
  }
  isFetching = false
  setText('trouble', failures === 0 ? '' : 'Connection lost, trying again.')
  scheduleUpdate(retryAfterMs)
}

function scheduleUpdate(atLeastMs: number): void {
  if (state.againMs === undefined) return
  const backoffMs = Math.min(state.againMs * 2 ** failures, MOST_BACKOFF_MS)
  const calmMs = document.hidden ? HIDDEN_MS : 0
  timer = setTimeout(update, Math.max(state.againMs, backoffMs, calmMs, atLeastMs))
}

async function copy(button: HTMLElement): Promise<void> {
  const source = elementOf(`[data-text="${button.dataset.copy}"]`)
  const label = button.querySelector('[data-label]')
  const isCopied = await copyText(source)
  if (!label) return
  label.textContent = isCopied ? 'Copied' : 'Selected'
  button.classList.add('done')
  setText(
    'announcement',
    isCopied
      ? `Copied the ${button.dataset.name}.`
      : `The ${button.dataset.name} is selected, but could not be copied.`,
  )
  setTimeout(() => {
    label.textContent = 'Copy'
    button.classList.remove('done')
    setText('announcement', '')
  }, FEEDBACK_MS)
}

/** @returns false if the browser does not allow it; then the text is selected */
async function copyText(source: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(source.textContent ?? '')
    return true
  } catch {
    // Pages without TLS have no clipboard API, but may support the old command.
    getSelection()?.selectAllChildren(source)
    return document.execCommand('copy')
  }
}

// The page contains the state that it was rendered from.
show(JSON.parse(page.dataset.page ?? ''))
for (const button of document.querySelectorAll<HTMLElement>('[data-copy]'))
  button.addEventListener('click', () => void copy(button))
setInterval(tick, 500)
scheduleUpdate(0)
addEventListener('online', () => void update())
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void update()
})
