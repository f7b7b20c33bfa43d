// Builds the app into `dist`: plain files that any server can serve, under any path.
import { defineConfig, type Plugin } from 'vite'
import { leanProtocol } from '../../scripts/client-package/lean-protocol.ts'
import { packedWordList } from '../../scripts/client-package/word-list.ts'
import { finishedBuild } from '../../scripts/web-app/finish-build.ts'

/**
 * Begins each style sheet with the order of the layers, because the first sheet that names them decides it,
 * and which part of the app is loaded first is not known.
 */
const layerOrder: Plugin = {
  name: 'order of layers',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle))
      if (file.type === 'asset' && file.fileName.endsWith('.css'))
        file.source = `@layer reset,tokens,base,parts,screens;${file.source}`
  },
}

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [packedWordList, leanProtocol, layerOrder, finishedBuild],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es', plugins: () => [packedWordList, leanProtocol] },
  build: {
    target: 'es2023',
    // A script that is a `data:` URL would break the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      treeshake: {
        // The library and what it uses have no side effects: what the app does not call is left out.
        moduleSideEffects: [
          { test: /[\\/](?:client|crypto|protocol)[\\/]src[\\/]|@noble|@scure|valibot/, sideEffects: false },
        ],
      },
    },
  },
})
