import { expect, test } from 'vitest'
import { escapeHtml, scriptJson } from '../../../src/core/escape.ts'

test('HTML text cannot open a tag, an entity or leave an attribute', () => {
  expect(escapeHtml(`<a href="x" b='y'>&</a>`)).toBe(
    '&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;&lt;/a&gt;',
  )
})

test('JSON in a script cannot close it, open a comment or end a line', () => {
  expect(scriptJson({ a: '</script><!--\u2028\u2029&' })).toBe(
    '{"a":"\\u003c/script\\u003e\\u003c!--\\u2028\\u2029\\u0026"}',
  )
})

test('JSON in a script reads back as what it was', () => {
  const value = { text: '</script>\u2028<b>&amp;', list: [1, null, true] }
  expect(JSON.parse(scriptJson(value))).toEqual(value)
})

test('what has no JSON is null', () => {
  expect(scriptJson(undefined)).toBe('null')
})
