// Names of files that other people chose, made harmless for showing and for saving.

/** The longest name, in characters. */
const MAX_LENGTH = 120

/** Names that Windows reserves for devices, with any ending. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/**
 * A name without a path, without characters that are invisible, change the direction of writing or mean
 * something to a file system, and without dots and spaces at its ends. Long names lose their middle: the
 * ending, which says what a file does when it is opened, always stays.
 */
export function harmlessName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? ''
  const visible = last
    .normalize('NFC')
    // Control and format characters, among them those of the direction of writing, and unassigned ones.
    .replace(/[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\u2028\u2029\u115f\u1160\u3164\uffa0]/gu, '')
    .replace(/[<>:"|?*]/g, '_')
    .replace(/\s+/gu, ' ')
    .replace(/^[. ]+|[. ]+$/g, '')
  if (visible === '') return 'file'
  const { stem, ending } = partsOf(DEVICE.test(visible) ? `_${visible}` : visible)
  const room = Math.max(8, MAX_LENGTH - [...ending].length)
  return `${[...stem].slice(0, room).join('')}${ending}`
}

/** A name in two parts, so that a row too narrow for the first one still shows the ending. */
export function partsOf(name: string): { readonly stem: string; readonly ending: string } {
  const at = name.lastIndexOf('.')
  if (at <= 0 || name.length - at > 16) return { stem: name, ending: '' }
  return { stem: name.slice(0, at), ending: name.slice(at) }
}

/** Endings of files that run, or lead somewhere, when they are opened. */
const RUNS =
  /\.(?:apk|app|appimage|bat|cmd|com|cpl|deb|desktop|dll|dmg|docm|exe|hta|html?|iso|jar|js|jse|lnk|mjs|msi|msp|pif|pkg|ps1|py|reg|rpm|scr|sh|svg|url|vbe?|vbs|wsf|xht(?:ml)?|xlsm|xml)$/i

/** Whether the file can do something when it is opened. The user is told before saving it. */
export function canRun(name: string): boolean {
  return RUNS.test(name)
}
