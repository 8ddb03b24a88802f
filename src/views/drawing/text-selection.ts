/** Whether text of an element is being selected: the click that ends a drag over it is no click. */
export function isSelectingText(element: Element): boolean {
  const selection = getSelection()
  return selection?.type === 'Range' && selection.containsNode(element, true)
}
