// Builds the app into `dist`: plain files that any server can serve, under any path.
import { defineConfig } from 'vite'
import { leanProtocol } from '../../scripts/client-package/lean-protocol.ts'
import { packedWordList } from '../../scripts/client-package/word-list.ts'

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [packedWordList, leanProtocol],
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
