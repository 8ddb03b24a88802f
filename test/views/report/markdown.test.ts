import { marked } from 'marked'
import { describe, expect, test } from 'vitest'
import { escapeMarkdown, markdownLink } from '../../../src/core/escape.ts'
import { lineMarkdown, table, withCode } from '../../../src/views/report/blocks.ts'

const drawn = (markdown: string) => marked.parse(markdown, { gfm: true, async: false })

describe('escaped text is text', () => {
  test.each([
    'a|b',
    '**bold** _it_ ~~gone~~ `code`',
    '<img src=x onerror="alert(1)">',
    '</details><script>alert(1)</script>',
    '[link](https://evil.example) ![image](x.png)',
    '`` ` ``',
    '\\| \\',
    '&lt;b&gt; &#64;all',
    'line\n\n# heading\n- list\n> quote',
    '<!-- comment',
  ])('%j', (text) => {
    const html = drawn(`x ${escapeMarkdown(text)} y`)
    expect(html.match(/<\w+/g)).toEqual(['<p'])
    const shown = html
      .replace(/<\/?p>|\u200b|&#8203;/g, '')
      .replace(/&lt;/g, '<')
      .replace(/&gt;/g, '>')
      .replace(/&quot;/g, '"')
      .replace(/&#39;/g, "'")
      .replace(/&amp;/g, '&')
    expect(shown.trim()).toBe(`x ${text.replace(/\s+/g, ' ')} y`)
  })

  test('between backticks is code where it is an expression, else text', () => {
    const html = drawn(
      lineMarkdown(withCode("Use `concurrency: 'none'`, not `<b>` or `@all` or `")),
    )
    expect(html.match(/<\w+/g)).toEqual(['<p', '<code'])
    expect(html).toContain('<code>concurrency: &#39;none&#39;</code>')
    expect(html).toContain('`&lt;b&gt;`')
    expect(html).not.toContain('@all')
  })

  test('nobody is mentioned and nothing is referred to', () => {
    const text = escapeMarkdown('@everyone @org/team me@mail.example fixes #12 org/repo#3 GH-4')
    expect(text).not.toMatch(/@\w/)
    expect(text).not.toMatch(/#\d(?!\d*;)/)
    expect(text).not.toMatch(/gh-\d/i)
    expect(text).toBe(
      '@&#8203;everyone @&#8203;org/team me@&#8203;mail.example fixes #&#8203;12 org/repo#&#8203;3 GH-&#8203;4',
    )
  })

  test('addresses are not links', () => {
    for (const text of ['https://evil.example/x', 'www.evil.example', 'HTTP://evil.example']) {
      expect(drawn(escapeMarkdown(text))).not.toContain('<a')
    }
  })

  test('dollars do not make a formula', () => {
    expect(escapeMarkdown('$x$')).toBe('<span>$</span>x<span>$</span>')
  })

  test('a cell stays a cell', () => {
    const html = drawn(table(['one', 'two'], [['a|b\nc', '\\|']]).markdown)
    expect(html.match(/<td/g)).toHaveLength(2)
    expect(html).toContain('<td>a|b c</td>')
  })
})

test('an id of letters and digits is code, any other is text', () => {
  const id = (text: string) => lineMarkdown({ text, look: 'code' })
  expect(id('4bf92f-1')).toBe('`4bf92f-1`')
  expect(id('`@x`')).toBe('\\`@&#8203;x\\`')
})

test('an address cannot end its link', () => {
  const html = drawn(markdownLink('t', 'https://t.example/a)b(c|d>e f`g'))
  expect(html.match(/href="([^"]*)"/)?.[1]).toBe('https://t.example/a%29b%28c%7Cd%3Ee%20f%60g')
  expect(html.match(/<\w+/g)).toEqual(['<p', '<a'])
})
