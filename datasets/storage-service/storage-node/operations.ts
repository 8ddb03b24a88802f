/** What a storage node offers: named objects of bytes, each a file of its own. */
export interface StorageNodeOperations {
  /** Up to `count` bytes from `offset`; fewer where the object ends, none where there is none. */
  'SN READ': { args: { object: string; offset: number; count: number }; result: { count: number } }
  'SN WRITE': { args: { object: string; offset: number }; result: object }
  'SN REMOVE': { args: { object: string }; result: object }
}
