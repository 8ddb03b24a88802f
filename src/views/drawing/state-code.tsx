import { useState } from 'preact/hooks'

/** The state of a widget as a line of code to paste into a cell. */
export function StateCode({ code }: { readonly code: string }) {
  const [copied, setCopied] = useState('')
  const copy = async () => {
    await navigator.clipboard.writeText(code)
    setCopied(code)
  }
  return (
    <div class="fd-code">
      <code>{code}</code>
      <button type="button" onClick={copy}>
        {copied === code ? 'Copied' : 'Copy'}
      </button>
    </div>
  )
}
