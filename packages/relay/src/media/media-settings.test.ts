// The settings of media: a folder by default. If a bucket is set, its other settings are required.
import { describe, expect, test } from 'bun:test'
import { readConfig } from '../config.ts'

const BUCKET = {
  MEDIA_S3_BUCKET: 'media',
  MEDIA_S3_ENDPOINT: 'https://s3.example',
  MEDIA_S3_ACCESS_KEY: 'name',
  MEDIA_S3_SECRET_KEY: 'hush-hush',
}

test('by default blobs are in a folder in DATA_DIR; MEDIA_DIR names another folder', () => {
  expect(readConfig({}).media).toEqual({ kind: 'folder', folder: undefined, totalBytes: undefined })
  expect(readConfig({ MEDIA_DIR: '/srv/media', MEDIA_TOTAL_BYTES: '5000' }).media).toEqual({
    ...{ kind: 'folder', folder: '/srv/media', totalBytes: 5000 },
  })
})

test('reads the settings of a bucket: its addresses, its region and its style', () => {
  const { media } = readConfig(BUCKET)
  expect(media).toMatchObject({ kind: 's3', bucket: 'media', region: 'us-east-1', isPathStyle: true })
  if (media.kind !== 's3') throw new Error('the settings name a bucket, but media are not stored in it')
  expect([media.endpoint.href, media.publicEndpoint.href]).toEqual([
    'https://s3.example/',
    'https://s3.example/',
  ])
  const other = { ...BUCKET, MEDIA_S3_PUBLIC_ENDPOINT: 'https://cdn.example', MEDIA_S3_PATH_STYLE: 'off' }
  expect(readConfig(other).media).toMatchObject({
    publicEndpoint: new URL('https://cdn.example'),
    isPathStyle: false,
  })
})

describe('an error names the setting, and never quotes its value', () => {
  test.each([
    [{ MEDIA_S3_BUCKET: 'No/Bucket' }, 'MEDIA_S3_BUCKET must be the name of a bucket'],
    [{ MEDIA_S3_ENDPOINT: '' }, 'MEDIA_S3_ENDPOINT must be given, since MEDIA_S3_BUCKET is'],
    [{ MEDIA_S3_ACCESS_KEY: '' }, 'MEDIA_S3_ACCESS_KEY must be given, since MEDIA_S3_BUCKET is'],
    [{ MEDIA_S3_SECRET_KEY: '' }, 'MEDIA_S3_SECRET_KEY must be given, since MEDIA_S3_BUCKET is'],
    [
      { MEDIA_S3_ENDPOINT: 's3.example' },
      'MEDIA_S3_ENDPOINT must be a URL without a path, such as https://s3.example',
    ],
    [
      { MEDIA_S3_PUBLIC_ENDPOINT: 'https://s3.example/media' },
      'MEDIA_S3_PUBLIC_ENDPOINT must be a URL without a path, such as https://s3.example',
    ],
    [{ MEDIA_TOTAL_BYTES: '5 GiB' }, 'MEDIA_TOTAL_BYTES must be a whole number of bytes'],
    [{ MEDIA_S3_PATH_STYLE: 'maybe' }, 'MEDIA_S3_PATH_STYLE must be on or off'],
  ])('%p', (wrong, message) => {
    expect(() => readConfig({ ...BUCKET, ...wrong })).toThrow(message)
  })
})
