// The rules of media: which pictures are shown, harmless names, the sizes of frames and views.
import { describe, expect, test } from 'bun:test'
import { canRun, harmlessName, partsOf } from './file-name.ts'
import { frameOf } from './frame.ts'
import { rasterOf } from './raster.ts'
import { soundTypeOfBytes } from './sound.ts'
import { moved, WHOLE, zoomed } from './zoom.ts'

const bytes = (...parts: readonly (string | readonly number[])[]): Uint8Array =>
  Uint8Array.from(
    parts.flatMap((part) => (typeof part === 'string' ? [...part].map((each) => each.charCodeAt(0)) : part)),
  )
const uint16 = (value: number): number[] => [value >> 8, value & 255]
const uint32 = (value: number): number[] => [...uint16(value >>> 16), ...uint16(value & 65_535)]
const little16 = (value: number): number[] => uint16(value).reverse()
const box = (name: string, ...parts: readonly (string | readonly number[])[]): number[] => {
  const content = [...bytes(...parts)]
  return [...uint32(content.length + 8), ...bytes(name), ...content]
}

const png = (width: number, height: number) =>
  bytes('\x89PNG\r\n\x1a\n', uint32(13), 'IHDR', uint32(width), uint32(height), [8, 6, 0, 0, 0])
const jpeg = (width: number, height: number) =>
  bytes(
    [0xff, 0xd8],
    [0xff, 0xe1, ...uint16(10), ...Array<number>(8).fill(7)],
    [0xff, 0xc2, ...uint16(17), 8, ...uint16(height), ...uint16(width), 3, 0, 0, 0, 0],
  )
const gif = (width: number, height: number, first = { width, height }) =>
  bytes(
    'GIF89a',
    [...little16(width), ...little16(height), 0x80, 0, 0, 1, 2, 3, 4, 5, 6],
    [0x21, 0xf9, 4, 0, 0, 0, 0, 0],
    [0x2c, 0, 0, 0, 0, ...little16(first.width), ...little16(first.height), 0],
  )
const webp = (name: string, ...content: readonly number[]) =>
  bytes('RIFF', [0, 0, 0, 0], 'WEBP', name, [0, 0, 0, 0], content)
const avif = (...extents: readonly (readonly [number, number])[]) =>
  bytes(
    box('ftyp', 'avif', [0, 0, 0, 0], 'avifmif1'),
    box(
      'meta',
      [0, 0, 0, 0],
      box('hdlr', [0, 0, 0, 0]),
      box('iprp', box('ipco', ...extents.map(([w, h]) => box('ispe', [0, 0, 0, 0], uint32(w), uint32(h))))),
    ),
  )

describe('a picture is recognised by its bytes', () => {
  test.each([
    ['image/png', png(300, 200)],
    ['image/jpeg', jpeg(300, 200)],
    ['image/gif', gif(300, 200)],
    ['image/webp', webp('VP8 ', 0, 0, 0, 0x9d, 1, 0x2a, ...little16(300), ...little16(200))],
    ['image/webp', webp('VP8L', 0x2f, 299 & 255, (299 >> 8) | ((199 & 3) << 6), 199 >> 2, 0)],
    ['image/webp', webp('VP8X', 0, 0, 0, 0, 299 & 255, 299 >> 8, 0, 199, 0, 0)],
    ['image/avif', avif([64, 64], [300, 200])],
  ] as const)('%s', (type, content) => {
    expect(rasterOf(content)).toEqual({ type, width: 300, height: 200 })
  })

  test('an SVG, a page, a film and text are files', () => {
    for (const text of ['<svg xmlns="http://www.w3.org/2000/svg"/>', '<!doctype html>', 'GIF', '', 'RIFF'])
      expect(rasterOf(bytes(text))).toBeUndefined()
    expect(rasterOf(bytes(box('ftyp', 'isom', [0, 0, 0, 0])))).toBeUndefined()
  })

  test('one with too many pixels is a file, also if only its first image has them', () => {
    expect(rasterOf(png(8000, 8000))).toBeDefined()
    expect(rasterOf(png(8001, 8000))).toBeUndefined()
    expect(rasterOf(png(20_001, 1))).toBeUndefined()
    expect(rasterOf(png(0, 5))).toBeUndefined()
    expect(rasterOf(jpeg(65_535, 65_535))).toBeUndefined()
    expect(rasterOf(gif(10, 10, { width: 60_000, height: 60_000 }))).toBeUndefined()
    expect(rasterOf(avif([64, 64], [65_536, 65_536]))).toBeUndefined()
  })

  test('one that ends before its dimensions is a file, wherever it ends', () => {
    for (const whole of [png(300, 200), jpeg(300, 200), gif(300, 200), avif([300, 200])])
      for (let length = 0; length < 20; length++) expect(rasterOf(whole.slice(0, length))).toBeUndefined()
  })
})

describe('the name of a file', () => {
  test.each([
    ['tea.txt', 'tea.txt'],
    ['../../.profile', 'profile'],
    ['C:\\Windows\\system.ini', 'system.ini'],
    ['holiday\u202Egpj.exe', 'holidaygpj.exe'],
    ['a\u200Bb\u0000c.pdf', 'abc.pdf'],
    ['what? <now>.pdf', 'what_ _now_.pdf'],
    ['con.txt', '_con.txt'],
    ['  .  ', 'file'],
    ['', 'file'],
    ['صورة العائلة.jpg', 'صورة العائلة.jpg'],
  ])('%p is saved as %p', (given, saved) => {
    expect(harmlessName(given)).toBe(saved)
  })

  test('keeps its ending however long it is', () => {
    const name = harmlessName(`${'a'.repeat(300)}.exe`)
    expect(name).toEndWith('a.exe')
    expect(name).toHaveLength(120)
  })

  test('has an ending that is shown apart', () => {
    expect(partsOf('archive.tar.gz')).toEqual({ stem: 'archive.tar', ending: '.gz' })
    expect(partsOf('README')).toEqual({ stem: 'README', ending: '' })
  })

  test('says whether the file can run', () => {
    for (const name of ['a.exe', 'a.jpg.SCR', 'a.html', 'a.svg', 'a.desktop']) expect(canRun(name)).toBe(true)
    for (const name of ['a.jpg', 'a.pdf', 'exe', 'a.exe.txt']) expect(canRun(name)).toBe(false)
  })
})

describe('the frame of a picture', () => {
  test('has the shape of the picture, and room for a finger', () => {
    expect(frameOf({ width: 1600, height: 1200 })).toEqual({ width: 320, height: 240 })
    expect(frameOf({ width: 600, height: 1200 })).toEqual({ width: 180, height: 360 })
    expect(frameOf({ width: 10, height: 10 })).toEqual({ width: 96, height: 96 })
    expect(frameOf({ width: 65_535, height: 1 })).toEqual({ width: 320, height: 96 })
    expect(frameOf({})).toEqual({ width: 240, height: 180 })
  })
})

describe('the view of a picture', () => {
  const sizes = { fitted: { width: 400, height: 300 }, screen: { width: 400, height: 600 } }

  test('keeps the point that is zoomed at', () => {
    const view = zoomed(WHOLE, 2, { x: 50, y: -20 })
    expect(view).toEqual({ scale: 2, x: -50, y: 20 })
    expect(zoomed(view, 0.5, { x: 50, y: -20 })).toEqual(WHOLE)
  })

  test('is never smaller than the whole picture, nor larger than eight times that', () => {
    expect(zoomed(WHOLE, 0.5, { x: 0, y: 0 }).scale).toBe(1)
    expect(zoomed(WHOLE, 100, { x: 0, y: 0 }).scale).toBe(8)
  })

  test('moves no edge of the picture into the screen', () => {
    const view = zoomed(WHOLE, 3, { x: 0, y: 0 })
    expect(moved(view, { x: 5000, y: -5000 }, sizes)).toEqual({ scale: 3, x: 400, y: -150 })
    expect(moved(WHOLE, { x: 100, y: 100 }, sizes)).toEqual(WHOLE)
  })
})

test('a recording is recognised by its bytes', () => {
  const types = {
    'audio/webm': bytes([0x1a, 0x45, 0xdf, 0xa3]),
    'audio/ogg': bytes('OggS'),
    'audio/mp4': bytes(box('ftyp', 'M4A ')),
    'audio/wav': bytes('RIFF', [0, 0, 0, 0], 'WAVE'),
    'audio/flac': bytes('fLaC'),
    'audio/mpeg': bytes([0xff, 0xfb]),
    'audio/aac': bytes([0xff, 0xf1]),
  }
  for (const [type, content] of Object.entries(types)) expect(soundTypeOfBytes(content)).toBe(type)
  for (const text of ['', '<svg/>', 'RIFF', '\x89PNG']) expect(soundTypeOfBytes(bytes(text))).toBeUndefined()
})
