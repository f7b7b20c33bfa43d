// Starts the admin page: takes the secret of the link out of the address, and shows the page.
import { render } from 'preact'
import { applyPreferences } from '../session/preferences.ts'
import { loadTexts } from '../texts/texts.ts'
import { Admin } from './admin.tsx'
import { followLinks } from './entering.ts'

async function start(): Promise<void> {
  await applyPreferences()
  await loadTexts()
  followLinks()
  render(<Admin />, document.querySelector('#app') ?? document.body)
}

void start()
