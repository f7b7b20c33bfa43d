// Rows of a result as a table for docs/benchmarks.md.

/** @param rows have the same columns */
export function markdownOf(rows: readonly Readonly<Record<string, string | number>>[]): string {
  const columns = Object.keys(rows[0] ?? {})
  return [columns, columns.map(() => '---'), ...rows.map((row) => columns.map((column) => row[column] ?? ''))]
    .map((cells) => `| ${cells.map(shown).join(' | ')} |`)
    .join('\n')
}

function shown(cell: string | number): string {
  return typeof cell === 'number' ? cell.toLocaleString('en', { maximumFractionDigits: 3 }) : cell
}
