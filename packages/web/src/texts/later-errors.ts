// Words for errors that nobody meets before the first message. The texts of later parts bring them.
import { laterErrors } from './en/later-errors.ts'
import { explainAlso } from './explain.ts'
import { translated } from './texts.ts'

explainAlso(translated(laterErrors, { ar: async () => (await import('./ar/later-errors.ts')).laterErrors }))
