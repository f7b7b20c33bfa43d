// Builds the admin page into `dist-admin`. It shares parts, styles and texts with the app, and nothing of it is
// loaded by those who use the app.
import { join } from 'node:path'
import { defineConfig } from 'vite'
import { layerOrder } from '../../scripts/web-app/layer-order.ts'
import { loadPart } from '../../scripts/web-app/load-part.ts'

export default defineConfig({
  root: join(import.meta.dirname, 'src/admin'),
  base: './',
  publicDir: false,
  plugins: [loadPart, layerOrder],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2023',
    // A style sheet or an icon that is a `data:` URL would break the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      treeshake: {
        // What the page does not call of the library is left out.
        moduleSideEffects: [
          { test: /[\\/](?:client|crypto|protocol)[\\/]src[\\/]|@noble|@scure|valibot/, sideEffects: false },
        ],
      },
    },
  },
})
