// A name and what belongs to it, in a list of such.
import type { ComponentChildren } from 'preact'

export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div class="admin-figure">
      <dt>{name}</dt>
      <dd class="number">{children}</dd>
    </div>
  )
}
