import { describeSharedData } from './shared-data.ts'

describeSharedData()
