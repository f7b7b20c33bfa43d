// Menus by the right mouse button, by keys and by a long press.
import { expect, test } from 'bun:test'
import type { CDPSession, Locator, Page } from 'playwright-core'
import { LONG_PRESS_MS } from '../src/parts/context-menu.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()

const menuOf = (page: Page): Locator => page.getByRole('menu')

/** Whether the next context menu on the page is the browser's own. */
function browsersMenu(page: Page): Promise<boolean> {
  return page.evaluate(
    () =>
      new Promise<boolean>((resolve) => {
        const look = (event: Event): void => resolve(!event.defaultPrevented)
        addEventListener('contextmenu', look, { once: true })
      }),
  )
}

/** Where a person presses: in its middle, once it stands still and nothing is above it. */
async function middleOf(target: Locator): Promise<{ readonly x: number; readonly y: number }> {
  await target.click({ trial: true })
  const { x, y, width, height } = (await target.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
  return { x: Math.round(x + width / 2), y: Math.round(y + height / 2) }
}

test('the right button opens the menu of a message where it is pressed, and of a conversation', async () => {
  const [alice] = await world.withFriend('Alice', 'Bob')
  const { page, t } = alice
  await alice.opens('Bob')
  await alice.writes('See https://sotto.example for more')
  const message = await alice.sees('See')
  const { x, y } = await middleOf(message.getByRole('time'))
  await page.mouse.click(x, y, { button: 'right' })
  await menuOf(page).waitFor()
  const box = await menuOf(page).boundingBox()
  // An edge of the menu is where the pointer is.
  expect([box?.y, (box?.y ?? 0) + (box?.height ?? 0)].map((edge) => Math.round(edge ?? 0))).toContain(y)
  await page.keyboard.press('Escape')
  await menuOf(page).waitFor({ state: 'detached' })
  await page.locator('article:focus').waitFor()

  // Keys open it, too.
  await page.keyboard.press('Shift+F10')
  await alice.choosesFromMenu(t.conversation.reply)
  await page.getByRole('button', { name: t.conversation.cancelReply }).click()

  // Links and selected text have the browser's own menu.
  const onLink = browsersMenu(page)
  await message.getByRole('link').click({ button: 'right' })
  expect(await onLink).toBe(true)
  await message.locator('p').evaluate((text) => getSelection()?.selectAllChildren(text))
  const onSelected = browsersMenu(page)
  await message.locator('p').click({ button: 'right', position: { x: 8, y: 8 } })
  expect(await onSelected).toBe(true)
  expect(await menuOf(page).count()).toBe(0)

  await alice.conversationWith('Bob').click({ button: 'right' })
  await alice.choosesFromMenu(t.chats.pin)
  await page.getByText(t.chats.pinned).waitFor()
  await alice.conversationWith('Bob').click({ button: 'right' })
  await alice.choosesFromMenu(t.chats.clear)
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: t.common.delete, exact: true }).click()
  await message.waitFor({ state: 'detached' })
})

test('a long press opens the menu, and a finger that moves or follows a link does not', async () => {
  const [phrase = ''] = await world.phrasesOfFriends('Alice', 'Bob')
  const alice = await world.recovered('Alice', phrase, { screen: 'phone' })
  const { page, t } = alice
  const touch = await page.context().newCDPSession(page)
  const press = async (at: { readonly x: number; readonly y: number }): Promise<void> => {
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [at] })
  }
  const lift = async (session: CDPSession): Promise<void> => {
    await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
  }

  // The row is a link: it is not followed when the finger is lifted.
  await press(await middleOf(alice.conversationWith('Bob')))
  await menuOf(page).waitFor()
  await lift(touch)
  await alice.settles()
  expect(new URL(page.url()).hash).not.toContain('chats/')
  await alice.choosesFromMenu(t.chats.markUnread)
  await alice.seesInList('Bob', t.chats.markedUnread)

  await alice.opens('Bob')
  await alice.writes('Press this for long')
  const message = await alice.sees('Press this for long')
  const at = await middleOf(message)
  // At once: a busy machine may take as long as a long press between the two.
  await Promise.all([
    press(at),
    touch.send('Input.dispatchTouchEvent', {
      type: 'touchMove',
      touchPoints: [{ x: at.x, y: at.y - 40 }],
    }),
  ])
  // A long press is a time. A timer that is set later for longer fires after the one of the long press.
  await page.evaluate((ms) => new Promise((resolve) => setTimeout(resolve, ms)), LONG_PRESS_MS + 100)
  expect(await menuOf(page).count()).toBe(0)
  await lift(touch)

  await press(await middleOf(message))
  await menuOf(page).waitFor()
  await lift(touch)
  await alice.settles()
  expect(await menuOf(page).isVisible()).toBe(true)
  await page.touchscreen.tap(5, 300)
  await menuOf(page).waitFor({ state: 'detached' })
  await press(await middleOf(message))
  await menuOf(page).waitFor()
  await lift(touch)
  await alice.choosesFromMenu(t.conversation.details)
  await page.getByRole('dialog').getByText('Press this for long').waitFor()
})
