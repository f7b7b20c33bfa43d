// A tour through what opens in and above a conversation: menus, dialogs, lists, notices, media.
import type { Page } from 'playwright-core'
import type { AppStage } from './app-stage.ts'
import type { PersonOptions } from './browser-person.ts'
import type { Look } from './tour.ts'
import { TALK } from './tour-talk.ts'

/** Shows it all to `look`, and closes each thing again. */
export async function tourOfConversation(stage: AppStage, options: PersonOptions, look: Look): Promise<void> {
  const talk = TALK[options.language ?? 'en']
  const [person, friend, alias] = await stage.withFriend(talk.me, talk.friend, options)
  const { page, t } = person
  const { keyboard } = page
  const words = t.conversation
  const see = async (name: string): Promise<void> => {
    await person.settles()
    await look(person, name)
  }
  const dialog = page.getByRole('dialog')
  const closes = async (): Promise<void> => {
    await keyboard.press('Escape')
    await dialog.or(page.getByRole('menu')).first().waitFor({ state: 'detached' })
  }

  /** By keyboard, because a notice may be above the message for some seconds. */
  const does = async (action: string, text: string): Promise<void> => {
    await (await person.sees(text)).press('Enter')
    await person.choosesFromMenu(action)
  }

  const [first, second] = talk.lines
  await friend.client.send(alias, first?.text ?? '')
  await person.seesInList(talk.friend, first?.text ?? '')
  await person.conversationWith(talk.friend).click({ button: 'right' })
  await see('chats-row-menu')
  await person.choosesFromMenu(t.chats.clear)
  await dialog.waitFor()
  await see('chats-row-clear')
  await closes()

  await person.opens(talk.friend)
  await person.writes(second?.text ?? '')
  for (const [action, name] of [
    [words.details, 'details'],
    [words.retract, 'retract'],
    [words.forward, 'forward'],
  ] as const) {
    await person.opensMenuOf(second?.text ?? '')
    if (name === 'details') await see('message-menu')
    await person.choosesFromMenu(action)
    await dialog.waitFor()
    await see(`message-${name}`)
    await closes()
  }
  await does(t.common.report, first?.text ?? '')
  await dialog.getByText(t.report.attached).click()
  await see('message-report')
  await closes()
  await does(words.forward, second?.text ?? '')
  await dialog.getByRole('checkbox', { name: talk.friend }).check()
  await dialog.getByRole('button', { name: words.forward, exact: true }).click()
  await person.reads(words.forwarded(talk.friend))
  await see('notice')
  await does(words.reply, first?.text ?? '')
  await see('replying')
  await person.writes(talk.lines[2]?.text ?? '')
  await does(words.removeHere, talk.lines[2]?.text ?? '')
  await see('undo')
  await does(words.select, second?.text ?? '')
  await see('selecting')
  await keyboard.press('Escape')

  await person.types('')
  await person.field.pressSequentially(':smi')
  await page.getByRole('listbox').waitFor()
  await see('emoji')
  await keyboard.press('Escape')
  await person.types('')
  await person.presses(t.conversation.attach)
  await see('attach-menu')
  await closes()
  await friend.client.send(alias, 'https://good.example@evil.example/')
  await page.getByRole('article').getByRole('link').press('Enter')
  await dialog.waitFor()
  await see('misleading-link')
  await closes()

  await drags(page, 'dragover')
  await person.reads(words.dropHere)
  await see('dropping')
  await drags(page, 'dragleave')
  await page.getByText(words.dropHere).waitFor({ state: 'detached' })
  await page.getByLabel(t.media.files).setInputFiles([
    { name: 'garden.png', mimeType: 'image/png', buffer: await pictureOf(person.page) },
    { name: 'report.pdf', mimeType: 'application/pdf', buffer: Buffer.alloc(1000) },
  ])
  const send = dialog.getByRole('button', { name: t.media.send, exact: true })
  await send.waitFor()
  await see('media-chosen')
  await send.click()
  const picture = page.getByRole('button', { name: t.media.openPicture })
  await picture.waitFor()
  await person.presses(t.conversation.record)
  await page.getByRole('button', { name: t.media.sendVoice }).waitFor()
  await see('media-recorder')
  await person.presses(t.media.sendVoice)
  await page.getByRole('slider').waitFor()
  await see('media-shown')
  await picture.click()
  await see('media-viewer')
  await closes()
  await person.presses(t.conversation.attach)
  await person.choosesFromMenu(t.media.camera)
  await dialog.getByRole('button', { name: t.media.takePicture }).waitFor()
  await see('media-camera')
  await closes()
  await page.getByRole('article').last().focus()
  await keyboard.press('?')
  await dialog.waitFor()
  await see('shortcuts')
  await closes()

  const [friendship] = await friend.client.syncFriends()
  await person.goesOffline()
  await person.writes(talk.lines[3]?.text ?? '')
  await see('conversation-offline')
  await friend.client.removeFriend(friendship?.friendship_id ?? 0)
  await person.goesOnline()
  await person.sees(talk.lines[3]?.text ?? '', { mark: 'failed' })
  await person.reads(words.notFriends)
  await see('conversation-failed')
  await friend.client.close()
}

/** Moves a file over the page, or away from it. */
function drags(page: Page, type: 'dragover' | 'dragleave'): Promise<void> {
  return page.evaluate((event) => {
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File(['roses'], 'garden.txt'))
    dispatchEvent(new DragEvent(event, { dataTransfer, bubbles: true, cancelable: true }))
  }, type)
}

async function pictureOf(page: Page): Promise<Buffer> {
  const drawn = await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(600, 400)
    canvas.getContext('2d')
    return [...new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer())]
  })
  return Buffer.from(drawn)
}
