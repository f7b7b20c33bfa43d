// The relay's version, as its package says it.
import manifest from '../package.json' with { type: 'json' }

export const { version } = manifest
