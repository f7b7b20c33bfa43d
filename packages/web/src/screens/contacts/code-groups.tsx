// A security code, large enough to be read aloud, in its groups.
export function CodeGroups({ code }: { readonly code: string }) {
  return (
    <p class="code contacts-code">
      {code.split(' ').map((group, index) => (
        // Groups may repeat, and never move.
        <span key={index}>{group} </span>
      ))}
    </p>
  )
}
