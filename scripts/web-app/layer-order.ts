// The order of the layers of styles in a build.
import type { Plugin } from 'vite'

/**
 * Begins each style sheet with the order of the layers, because the first sheet that names them decides it,
 * and which part of the app is loaded first is not known.
 */
export const layerOrder: Plugin = {
  name: 'order of layers',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle))
      if (file.type === 'asset' && file.fileName.endsWith('.css'))
        file.source = `@layer reset,tokens,base,parts,screens;${file.source}`
  },
}
