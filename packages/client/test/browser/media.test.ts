// Media in browsers: images are made smaller, and media are sent, received and shown in any tab.
import { expect, setDefaultTimeout, test } from 'bun:test'
import type { StoredMessage } from '../../src/client.ts'
import { until } from '../people.ts'
import type { AppTab } from './app-tab.ts'
import { BrowserWorld } from './world.ts'

setDefaultTimeout(240_000)

const world = new BrowserWorld()

function received(tab: AppTab): Promise<StoredMessage> {
  return until('the message arrives', async () => (await tab.heard<StoredMessage>('message'))[0])
}

/**
 * Sends a photo as a camera writes it: 3000 wide and 2000 high, with a rotation and a place in its metadata.
 */
function sendPhoto(tab: AppTab, contact: string, isOriginal: boolean): Promise<number> {
  return tab.page.evaluate(
    async ([contact, isOriginal]) => {
      const canvas = new OffscreenCanvas(3000, 2000)
      const context = canvas.getContext('2d')
      if (!context) throw new Error('no canvas')
      context.fillStyle = 'rgb(200, 30, 30)'
      context.fillRect(0, 0, 1500, 2000)
      const plain = await (await canvas.convertToBlob({ type: 'image/jpeg' })).bytes()
      // APP1 with one entry, the orientation: the right side is the top (Exif 2.32, 4.6.4).
      const tiff = [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]
      const place = new TextEncoder().encode('my front door')
      const body = [...new TextEncoder().encode('Exif\0\0'), ...tiff, ...place]
      const photo = new Blob(
        [plain.slice(0, 2), new Uint8Array([0xff, 0xe1, 0, body.length + 2, ...body]), plain.slice(2)],
        { type: 'image/jpeg' },
      )
      await app.media.sendImage(contact, photo, { isOriginal })
      return photo.size
    },
    [contact, isOriginal] as const,
  )
}

/** Downloads the image of a message and shows it as a page would. */
function show(tab: AppTab, { conversationId, mediaUrl = '' }: StoredMessage) {
  return tab.page.evaluate(
    async ([contact, mediaKey]) => {
      const { data, isProven } = await app.media.download(contact, { mediaKey })
      const image = new Image()
      image.src = URL.createObjectURL(data)
      await image.decode()
      document.body.append(image)
      const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight)
      const context = canvas.getContext('2d')
      context?.drawImage(image, 0, 0)
      const [red = 0, green = 0] = context?.getImageData(10, 10, 1, 1).data ?? []
      return {
        isProven,
        size: data.size,
        width: image.naturalWidth,
        height: image.naturalHeight,
        isRedOnTop: red > 150 && green < 80,
        hasPlace: (await data.text()).includes('my front door'),
      }
    },
    [conversationId, mediaUrl] as const,
  )
}

/** Shows the thumbnail of a message as a page would. */
function showThumbnail(tab: AppTab, { thumbnail = '' }: StoredMessage) {
  return tab.page.evaluate(async (url) => {
    const image = new Image()
    image.src = url
    await image.decode()
    const { naturalWidth: width, naturalHeight: height } = image
    const context = new OffscreenCanvas(width, height).getContext('2d')
    context?.drawImage(image, 0, 0)
    const [red = 0, green = 0, blue = 0] = context?.getImageData(2, 1, 1, 1).data ?? []
    const bytes = atob(url.split(',')[1] ?? '')
    return {
      ...{ width, height, bytes: bytes.length, hasPlace: bytes.includes('my front door') },
      isRedOnTop: red > 150 && green < 80,
      isWhite: Math.min(red, green, blue) > 250,
    }
  }, thumbnail)
}

test('a photo arrives smaller, upright, and without the camera’s metadata', async () => {
  const { alice, bob, b } = await world.friends()
  const size = await sendPhoto(alice, b, false)
  const message = await received(bob)
  expect(message.text).toMatch(/^\[img\]m_[\w-]{22}\.h[\w-]{43}$/)
  const shown = await show(bob, message)
  expect(shown).toMatchObject({
    isProven: true,
    width: 1067,
    height: 1600,
    isRedOnTop: true,
    hasPlace: false,
  })
  expect(shown.size).toBeLessThan(size)
  expect(message).toMatchObject({ width: 1067, height: 1600, sizeBytes: shown.size })
  expect(await showThumbnail(bob, message)).toMatchObject({ width: 21, height: 32, isRedOnTop: true })
})

test('a photo that is sent as the original arrives unchanged', async () => {
  const { alice, bob, b } = await world.friends()
  const size = await sendPhoto(alice, b, true)
  const message = await received(bob)
  expect(await show(bob, message)).toMatchObject({ size, width: 2000, height: 3000, hasPlace: true })
  expect(message).toMatchObject({ width: 2000, height: 3000, sizeBytes: size })
  // The camera wrote a place into the original. The thumbnail has none.
  const thumbnail = await showThumbnail(bob, message)
  expect(thumbnail).toMatchObject({ width: 21, height: 32, isRedOnTop: true, hasPlace: false })
  expect(thumbnail.bytes).toBeLessThan(2048)
})

test('what is transparent is white in a thumbnail, and an original that is no image has none', async () => {
  const { alice, bob, b } = await world.friends()
  await alice.page.evaluate(async (contact) => {
    const canvas = new OffscreenCanvas(64, 4)
    canvas.getContext('2d')
    const png = await canvas.convertToBlob({ type: 'image/png' })
    await app.media.sendImage(contact, png)
    await app.media.sendImage(contact, new Blob(['hello'], { type: 'image/png' }), { isOriginal: true })
  }, b)
  const [drawing, text] = await until('both arrive', async () => {
    const heard = await bob.heard<StoredMessage>('message')
    return heard.length === 2 && heard
  })
  if (!drawing) throw new Error('nothing arrived')
  expect(drawing).toMatchObject({ width: 64, height: 4 })
  expect(await showThumbnail(bob, drawing)).toMatchObject({ width: 32, height: 2, isWhite: true })
  expect(text).toMatchObject({ msgType: 'image', sizeBytes: 5 })
  expect(text).not.toHaveProperty('thumbnail')
  expect(text).not.toHaveProperty('width')
})

test('a voice message from a tab that does not run the client has its waveform', async () => {
  const { alice, bob, b } = await world.friends()
  const second = await world.duplicate(alice)
  await second.page.evaluate(async (contact) => {
    // One second of a WAV file (16 bit, one channel, 8000 Hz): silence, then a tone at half the loudness.
    const samples = Int16Array.from({ length: 8000 }, (_, at) =>
      at < 4000 ? 0 : Math.round(16_000 * Math.sin(at)),
    )
    const header = new DataView(new ArrayBuffer(44))
    const names = [
      [0, 'RIFF'],
      [8, 'WAVE'],
      [12, 'fmt '],
      [36, 'data'],
    ] as const
    for (const [at, name] of names)
      for (const [index, letter] of [...name].entries()) header.setUint8(at + index, letter.charCodeAt(0))
    for (const [at, value] of [
      [4, 16_036],
      [16, 16],
      [24, 8000],
      [28, 16_000],
      [40, 16_000],
    ] as const)
      header.setUint32(at, value, true)
    for (const [at, value] of [
      [20, 1],
      [22, 1],
      [32, 2],
      [34, 16],
    ] as const)
      header.setUint16(at, value, true)
    await app.media.sendVoice(contact, new Blob([header, samples]), 1000)
  }, b)
  const { durationMs, waveform = [] } = await received(bob)
  expect(durationMs).toBe(1000)
  expect(waveform).toHaveLength(64)
  expect(waveform.slice(0, 31).every((peak) => peak < 5)).toBe(true)
  expect(waveform.slice(33).every((peak) => peak > 80)).toBe(true)
})

test('a file that is not an image is refused before anything is uploaded', async () => {
  const { alice, b } = await world.friends()
  const code = await alice.page.evaluate(async (contact) => {
    const text = new Blob(['hello'], { type: 'image/png' })
    return app.media.sendImage(contact, text).catch((error: { code: string }) => error.code)
  }, b)
  expect(code).toBe('INVALID_ARGUMENT')
})

test('tabs that do not run the client can send and receive a file and a voice message', async () => {
  const { alice, bob, b } = await world.friends()
  const [second, other] = [await world.duplicate(alice), await world.duplicate(bob)]
  const hash = await second.page.evaluate(async (contact) => {
    const bytes = new Uint8Array(12_000_000)
    for (let at = 0; at < bytes.length; at += 60_000) crypto.getRandomValues(bytes.subarray(at, at + 60_000))
    await app.media.sendFile(contact, new File([bytes], 'holiday.mp4'))
    await app.media.sendVoice(contact, new Blob([bytes.subarray(0, 5000)]), 2500)
    return (await crypto.subtle.digest('SHA-256', bytes).then((digest) => new Uint8Array(digest))).join()
  }, b)
  const messages = await until('both messages arrive', async () => {
    const heard = await other.heard<StoredMessage>('message')
    return heard.length === 2 && heard
  })
  expect(messages.map(({ text }) => text.replace(/m_[^|]+/, 'key'))).toEqual([
    '[file]key|holiday.mp4|12000000',
    '[voice]key|2500',
  ])
  const got = await other.page.evaluate(
    async (messages) => {
      const [file, voice] = await Promise.all(
        messages.map(({ conversationId, mediaUrl = '' }) =>
          app.media.download(conversationId, { mediaKey: mediaUrl }),
        ),
      )
      const bytes = (await file?.data.arrayBuffer()) ?? new ArrayBuffer(0)
      const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
      return { hash: digest.join(), voiceBytes: voice?.data.size, isProven: file?.isProven }
    },
    messages.map(({ conversationId, mediaUrl }) => ({ conversationId, ...(mediaUrl ? { mediaUrl } : {}) })),
  )
  expect(got).toEqual({ hash, voiceBytes: 5000, isProven: true })
})

test('an upload in one tab continues when the tab that runs the client is closed', async () => {
  const { alice, bob, b } = await world.friends()
  const second = await world.duplicate(alice)
  await second.page.evaluate((contact) => {
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 100))
        sent += 1
        Object.assign(globalThis, { sent })
        if (sent > 30) controller.close()
        else controller.enqueue(new Uint8Array(500_000).fill(sent))
      },
    })
    let sent = 0
    app.media.sendFile(contact, stream, { name: 'long' })
  }, b)
  // After six megabytes the upload has begun, its first part is stored, and more parts follow.
  await second.page.waitForFunction(() => Reflect.get(globalThis, 'sent') >= 12)
  await alice.page.close()
  expect(await received(bob).then(({ text }) => text)).toMatch(/\|long\|15000000$/)
})
