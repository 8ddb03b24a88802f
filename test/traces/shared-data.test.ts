import { describeSharedData } from './shared-data.ts'

// All folders in shared-data.full.test.ts.
describeSharedData(['nezha-onlineboutique/ob0_control_no_fault'])
